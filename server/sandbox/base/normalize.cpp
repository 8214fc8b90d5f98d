// SPDX-License-Identifier: Apache-2.0
#include "server/sandbox/base/normalize.h"

#include "server/core/file_io.h"

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace assay::sandbox::base {

namespace fs = std::filesystem;

namespace {

/// Emptied, the folder itself stays.
constexpr std::array kEmptied{"var/log", "var/cache", "var/lib/apt/lists", "var/tmp", "tmp", "run", "dev",
                              "root",    "boot"};
constexpr std::array kRemoved{"etc/machine-id",
                              "var/lib/dbus/machine-id",
                              "etc/passwd-",
                              "etc/group-",
                              "etc/shadow-",
                              "etc/gshadow-",
                              "etc/shadow",
                              "etc/gshadow",
                              "etc/subuid-",
                              "etc/subgid-",
                              "etc/resolv.conf",
                              "etc/hostname",
                              "etc/apt/sources.list",
                              "etc/apt/sources.list.d",
                              "var/lib/dpkg/status-old",
                              "etc/.pwd.lock",
                              "var/lib/dpkg/lock",
                              "var/lib/dpkg/lock-frontend",
                              "etc/mtab",
                              "var/lib/dpkg/triggers/Lock",
                              "var/lib/systemd"};

struct OwnFile
{
    const char* path;
    const char* content;
};
constexpr std::array kOwn{
    OwnFile{"etc/passwd", "root:x:0:0:root:/root:/usr/sbin/nologin\n"
                          "box:x:10001:10001:box:/workspace:/bin/bash\n"
                          "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n"},
    OwnFile{"etc/group", "root:x:0:\nbox:x:10001:\nnogroup:x:65534:\n"},
    OwnFile{"etc/hosts", "127.0.0.1 localhost box\n::1 localhost\n"},
    OwnFile{"etc/hostname", "box\n"},
    OwnFile{"etc/nsswitch.conf", "passwd: files\ngroup: files\nshadow: files\nhosts: files\nservices: files\n"
                                 "protocols: files\nnetworks: files\n"},
};

void empty(const fs::path& folder)
{
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder, error))
        fs::remove_all(entry.path(), error);
}

Result<void> writeOwn(const fs::path& root)
{
    for (const OwnFile& file : kOwn) {
        // A link here could lead out of the tree.
        ::unlink((root / file.path).c_str());
        auto fd = openFile(root / file.path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0644);
        if (!fd)
            return forward(fd);
        if (auto done = writeAll(fd->get(), file.content); !done)
            return done;
    }
    return {};
}

Result<void> normalizeEntry(const fs::path& path)
{
    struct stat info{};
    if (::lstat(path.c_str(), &info) != 0)
        return failErrno("stat " + path.string(), errno);
    const bool known = S_ISREG(info.st_mode) || S_ISDIR(info.st_mode) || S_ISLNK(info.st_mode);
    if (!known)
        return ::unlink(path.c_str()) == 0 ? Result<void>() : failErrno("remove " + path.string(), errno);
    if (!S_ISLNK(info.st_mode)) {
        const mode_t bits = info.st_mode & 07777;
        const mode_t wanted = S_ISDIR(info.st_mode) ? (bits & ~static_cast<mode_t>(S_ISUID | S_ISGID)) | 0555
                                                    : bits & ~static_cast<mode_t>(S_ISUID | S_ISGID | S_ISVTX);
        if (wanted != bits && ::chmod(path.c_str(), wanted) != 0)
            return failErrno("chmod " + path.string(), errno);
    }
    return {};
}

void stampTime(const fs::path& path)
{
    const std::array<timespec, 2> times{timespec{kBaseTime, 0}, timespec{kBaseTime, 0}};
    ::utimensat(AT_FDCWD, path.c_str(), times.data(), AT_SYMLINK_NOFOLLOW);
}

/// Children first: a folder's time changes with every change below it.
Result<void> walk(const fs::path& folder, std::stop_token cancel, int depth)
{
    if (depth > 256)
        return fail(ErrorCode::InvalidArgument, "the base is nested too deeply", folder.string());
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder, error)) {
        if (cancel.stop_requested())
            return fail(ErrorCode::Cancelled, "the build was cancelled");
        if (auto done = normalizeEntry(entry.path()); !done)
            return done;
        if (!entry.is_symlink(error) && entry.is_directory(error))
            if (auto done = walk(entry.path(), cancel, depth + 1); !done)
                return done;
        stampTime(entry.path());
    }
    return error ? failErrno("walk " + folder.string(), error.value()) : Result<void>();
}

} // namespace

Result<void> normalizeTree(const fs::path& root, std::stop_token cancel)
{
    std::error_code error;
    for (const char* path : kEmptied)
        empty(root / path);
    for (const char* path : kRemoved)
        fs::remove_all(root / path, error);
    if (auto done = writeOwn(root); !done)
        return done;
    ::chmod(root.c_str(), 0755);
    auto done = walk(root, std::move(cancel), 0);
    stampTime(root);
    return done;
}

} // namespace assay::sandbox::base
