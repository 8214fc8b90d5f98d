// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/error.h"
#include "server/core/unique_fd.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <sys/stat.h>

namespace assay::sandbox::bubblewrap {

/// Read-only mounts of folders that many boxes get (`readOnlyFolder`), made once and then cloned: making one takes
/// longer than starting a process, and taking one apart waits for the whole machine. A mount goes with its folder: once
/// that was removed, the next call drops it. Thread-safe.
class FolderMounts
{
public:
    /// At most so many are kept; more are made for one box alone.
    static constexpr std::size_t kMaxKept = 64;

    /// One for a single box. Where the kernel cannot clone a mount that hangs nowhere (before Linux 6.15), a new one.
    Result<UniqueFd> take(const std::filesystem::path& folder, int emptyFolder);

    std::size_t kept() const;

private:
    struct Kept
    {
        UniqueFd folder;
        UniqueFd mount;
        dev_t device = 0;
        ino_t inode = 0;
    };
    void dropRemoved();
    UniqueFd cloneOf(const std::filesystem::path& folder, const struct ::stat& info) const;

    mutable std::mutex m_mutex;
    std::map<std::filesystem::path, Kept> m_kept;
};

} // namespace assay::sandbox::bubblewrap
