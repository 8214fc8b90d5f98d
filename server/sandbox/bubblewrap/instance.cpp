// SPDX-License-Identifier: Apache-2.0
#include "server/sandbox/bubblewrap/instance.h"

#include "server/core/digest.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>

namespace assay::sandbox::bubblewrap {

Result<std::string> instanceOf(const std::filesystem::path& dataDirectory)
{
    struct statx info{};
    if (::statx(AT_FDCWD, dataDirectory.c_str(), 0, STATX_INO | STATX_BTIME, &info) != 0)
        return failErrno("stat " + dataDirectory.string(), errno);
    std::string identity = std::to_string(info.stx_dev_major) + ":" + std::to_string(info.stx_dev_minor) + ":" +
                           std::to_string(info.stx_ino);
    if ((info.stx_mask & STATX_BTIME) != 0)
        identity += ":" + std::to_string(info.stx_btime.tv_sec) + "." + std::to_string(info.stx_btime.tv_nsec);
    return Digest::ofBytes(identity).hex().substr(0, 16);
}

} // namespace assay::sandbox::bubblewrap
