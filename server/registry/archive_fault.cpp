// SPDX-License-Identifier: Apache-2.0
#include "server/registry/archive_fault.h"

#include <cerrno>
#include <unistd.h>

namespace assay::registry {

std::unexpected<Error> rejectArchive(Problem problem)
{
    std::vector<Problem> problems;
    problems.push_back(std::move(problem));
    return rejectPackage(std::move(problems));
}

std::unexpected<Error> corruptArchive(std::string message, std::string_view path)
{
    return rejectArchive({.code = "corrupt_archive", .message = std::move(message), .path = shownPath(path)});
}

Problem linkNotAllowed(std::string_view path, std::string_view kind)
{
    return {.code = "link_not_allowed",
            .message = "the archive has " + std::string(kind) +
                       " here; a package holds regular files only: replace it by a copy",
            .path = shownPath(path)};
}

Result<std::string> readUpTo(int fd, std::uint64_t offset, std::size_t size)
{
    std::string out(size, '\0');
    std::size_t done = 0;
    while (done < size) {
        const ssize_t got = ::pread(fd, out.data() + done, size - done, static_cast<off_t>(offset + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return failErrno("read of an archive", errno);
        if (got == 0)
            break;
        done += static_cast<std::size_t>(got);
    }
    out.resize(done);
    return out;
}

Result<std::string> readExactly(int fd, std::uint64_t offset, std::size_t size)
{
    auto out = readUpTo(fd, offset, size);
    if (out && out->size() < size)
        return corruptArchive("the archive is truncated; send it again");
    return out;
}

} // namespace assay::registry
