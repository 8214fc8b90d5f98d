// SPDX-License-Identifier: Apache-2.0
#include "server/sandbox/init/workspace.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/vfs.h>
#include <unistd.h>

namespace assay::sandbox::init {

bool Workspace::open(const char* path, std::uint64_t limitBytes)
{
    m_limitBytes = limitBytes;
    m_directory = ::open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return m_directory >= 0;
}

bool Workspace::measure(Usage& usage) const
{
    struct statfs info{};
    while (::fstatfs(m_directory, &info) != 0) {
        if (errno != EINTR)
            return false;
    }
    const auto block = static_cast<std::uint64_t>(info.f_bsize);
    usage.capacityBytes = info.f_blocks * block;
    usage.usedBytes = (info.f_blocks - info.f_bfree) * block;
    usage.capacityInodes = info.f_files;
    usage.usedInodes = info.f_files - info.f_ffree;
    return true;
}

bool Workspace::isOverLimit() const
{
    if (m_limitBytes == 0)
        return false;
    Usage usage;
    if (!measure(usage))
        return true;
    return usage.usedBytes > m_limitBytes || (usage.capacityInodes > 0 && usage.usedInodes >= usage.capacityInodes);
}

} // namespace assay::sandbox::init
