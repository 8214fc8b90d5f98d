// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/error.h"
#include "server/core/unique_fd.h"

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace assay::registry {

/// Collects bytes in an unlinked file and then maps it: a package of tens of megabytes costs no heap, and nothing is
/// left after a crash. Not synchronized.
class SpoolFile
{
public:
    /// Makes the file below `directory`. `Unavailable` when the disk is full.
    static Result<SpoolFile> open(const std::filesystem::path& directory);

    Result<void> append(std::string_view bytes);
    std::uint64_t size() const { return m_written + m_buffer.size(); }

    /// All bytes, and what keeps them mapped (read-only).
    struct Mapped
    {
        std::string_view bytes;
        std::shared_ptr<const void> storage;
    };
    Result<Mapped> map();

private:
    explicit SpoolFile(UniqueFd fd) : m_fd(std::move(fd)) {}
    Result<void> flush();

    UniqueFd m_fd;
    std::string m_buffer;
    std::uint64_t m_written = 0;
};

} // namespace assay::registry
