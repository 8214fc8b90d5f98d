// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/error.h"
#include "server/core/unique_fd.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace assay::runs {

/// A folder of the server's own, mode 0700, that extracted packages are written to. It is empty when it is opened:
/// nothing that an earlier process left is ever used again; it is set aside and removed in the background.
class TreeRoom
{
public:
    /// `PrivateMemory`: a file system in memory that is mounted nowhere, so that no other process can name what is in
    /// it; for a server that is root, whose driver attaches packages to boxes by descriptor, on a kernel that can clone
    /// such mounts (Linux 6.15). `MemoryFolder`: a folder on a tmpfs of the machine (`XDG_RUNTIME_DIR`, /dev/shm).
    enum class Kind : std::uint8_t { PrivateMemory, MemoryFolder, Disk };

    static Result<std::unique_ptr<TreeRoom>> onDisk(const std::filesystem::path& directory);

    /// The best of the two in memory for `bytes` bytes. `Unavailable` when neither can be had: no tmpfs that is
    /// executable, that has twice `bytes` free, and where the folder `name` is this user's alone.
    static Result<std::unique_ptr<TreeRoom>> inMemory(const std::string& name, std::uint64_t bytes);
    /// The same from given places instead of the usual ones, and never private.
    static Result<std::unique_ptr<TreeRoom>> inMemoryOf(const std::vector<std::filesystem::path>& places,
                                                        const std::string& name, std::uint64_t bytes);

    ~TreeRoom();
    TreeRoom(const TreeRoom&) = delete;
    TreeRoom& operator=(const TreeRoom&) = delete;

    Kind kind() const { return m_kind; }
    /// Where trees go, for the *at calls, and as a path that this process can open.
    int folder() const { return m_trees.get(); }
    const std::filesystem::path& path() const { return m_path; }

private:
    TreeRoom(Kind kind, UniqueFd root) : m_kind(kind), m_root(std::move(root)) {}
    static Result<std::unique_ptr<TreeRoom>> privateMemory(std::uint64_t bytes);
    static Result<std::unique_ptr<TreeRoom>> memoryFolder(const std::filesystem::path& place, const std::string& name,
                                                          std::uint64_t bytes);
    Result<void> prepare(const std::filesystem::path& path);
    void removeLeftovers();

    Kind m_kind;
    UniqueFd m_root;
    UniqueFd m_trees;
    UniqueFd m_place;   ///< `MemoryFolder`: where the folder is
    std::string m_name; ///< and its name
    std::filesystem::path m_path;
    std::jthread m_cleaner;
};

} // namespace assay::runs
