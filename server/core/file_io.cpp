// SPDX-License-Identifier: Apache-2.0
#include "server/core/file_io.h"

#include "server/core/digest.h"
#include "server/core/random.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>

namespace assay {

namespace fs = std::filesystem;

Result<UniqueFd> openFile(const fs::path& path, int flags, unsigned mode)
{
    UniqueFd fd(::open(path.c_str(), flags | O_CLOEXEC, mode));
    if (fd)
        return fd;
    if (errno == ENOENT)
        return fail(ErrorCode::NotFound, "the file does not exist", "open " + path.string() + ": not there");
    return failErrno("open " + path.string(), errno);
}

Result<std::string> readFile(const fs::path& path, std::uint64_t limitBytes)
{
    auto fd = openFile(path, O_RDONLY);
    if (!fd)
        return forward(fd);
    struct stat info{};
    if (::fstat(fd->get(), &info) != 0)
        return failErrno("stat " + path.string(), errno);
    if (!S_ISREG(info.st_mode))
        return fail(ErrorCode::InvalidArgument, "this is not a regular file", path.string());
    std::string out;
    std::size_t done = 0;
    // Grows past st_size on purpose: files of /proc and /sys report 0.
    for (;;) {
        out.resize(std::max<std::size_t>(static_cast<std::size_t>(info.st_size) + 1, done + 4096));
        const ssize_t got = ::read(fd->get(), out.data() + done, out.size() - done);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return failErrno("read " + path.string(), errno);
        done += static_cast<std::size_t>(got);
        if (done > limitBytes)
            return fail(ErrorCode::TooLarge, "the file is larger than " + std::to_string(limitBytes) + " bytes",
                        path.string());
        if (got == 0)
            break;
    }
    out.resize(done);
    return out;
}

Result<void> writeAll(int fd, std::string_view bytes)
{
    while (!bytes.empty()) {
        const ssize_t wrote = ::write(fd, bytes.data(), bytes.size());
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote < 0)
            return failErrno("write", errno);
        bytes.remove_prefix(static_cast<std::size_t>(wrote));
    }
    return {};
}

Result<void> replaceFileDurably(const fs::path& path, std::string_view bytes, unsigned mode)
{
    const fs::path temporary = path.parent_path() / ("." + path.filename().string() + "." + toHex(randomBytes(8)));
    auto fd = openFile(temporary, O_WRONLY | O_CREAT | O_EXCL, mode);
    if (!fd)
        return forward(fd);
    auto written = writeAll(fd->get(), bytes);
    if (written && ::fsync(fd->get()) != 0)
        written = failErrno("fsync " + temporary.string(), errno);
    if (written && ::rename(temporary.c_str(), path.c_str()) != 0)
        written = failErrno("rename to " + path.string(), errno);
    if (!written) {
        ::unlink(temporary.c_str());
        return written;
    }
    return syncDirectory(path.parent_path());
}

Result<void> syncDirectory(const fs::path& directory)
{
    auto fd = openFile(directory, O_RDONLY | O_DIRECTORY);
    if (!fd)
        return forward(fd);
    if (::fsync(fd->get()) != 0)
        return failErrno("fsync " + directory.string(), errno);
    return {};
}

Result<UniqueFd> openUnnamedFile(const fs::path& directory) { return openFile(directory, O_TMPFILE | O_RDWR, 0600); }

} // namespace assay
