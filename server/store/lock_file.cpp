// SPDX-License-Identifier: Apache-2.0
#include "server/store/lock_file.h"

#include "server/core/file_io.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/file.h>

namespace assay::store {

namespace {

std::string holderOf(int fd)
{
    char text[32] = {};
    const ssize_t got = ::pread(fd, text, sizeof(text) - 1, 0);
    std::string_view digits(text, got > 0 ? static_cast<std::size_t>(got) : 0);
    digits = digits.substr(0, digits.find_first_not_of("0123456789"));
    return digits.empty() ? std::string() : " (process " + std::string(digits) + ")";
}

} // namespace

Result<LockFile> LockFile::take(const std::filesystem::path& path)
{
    auto fd = openFile(path, O_RDWR | O_CREAT | O_NOFOLLOW, 0600);
    if (!fd)
        return forward(fd);
    if (::flock(fd->get(), LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK)
            return failErrno("flock " + path.string(), errno);
        return fail(ErrorCode::Unavailable,
                    "another server" + holderOf(fd->get()) +
                        " uses this data directory; stop it or choose another directory",
                    path.string());
    }
    const std::string id = std::to_string(::getpid()) + "\n";
    if (::ftruncate(fd->get(), 0) != 0 || ::pwrite(fd->get(), id.data(), id.size(), 0) < 0)
        return failErrno("write " + path.string(), errno);
    return LockFile(std::move(*fd));
}

} // namespace assay::store
