// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace assay::sandbox::init {

/// The file system below /workspace, measured by itself (statfs): unlinked, unreadable and reserved space counts.
class Workspace
{
public:
    struct Usage
    {
        std::uint64_t usedBytes = 0;
        std::uint64_t capacityBytes = 0;
        std::uint64_t usedInodes = 0;
        std::uint64_t capacityInodes = 0; ///< 0: the file system has no such limit
    };

    /// Opens the folder, without following a link at its end, and keeps it. False with errno.
    bool open(const char* path, std::uint64_t limitBytes);

    int directory() const { return m_directory; }
    /// False with errno.
    bool measure(Usage& usage) const;
    /// Over the limit of bytes (0: none), without a free inode, or not measurable.
    bool isOverLimit() const;

private:
    int m_directory = -1;
    std::uint64_t m_limitBytes = 0;
};

} // namespace assay::sandbox::init
