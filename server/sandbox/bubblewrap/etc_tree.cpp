// SPDX-License-Identifier: Apache-2.0
#include "server/sandbox/bubblewrap/etc_tree.h"

#include "server/core/digest.h"
#include "server/core/file_io.h"
#include "server/core/random.h"

#include <array>
#include <fcntl.h>
#include <sys/stat.h>

namespace assay::sandbox::bubblewrap {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t kMaxCopyBytes = 16U << 20;
constexpr std::size_t kMaxEntries = 5'000;

constexpr std::array kOwn{
    EtcFile{"passwd", "root:x:0:0:root:/nonexistent:/usr/sbin/nologin\n"
                      "box:x:10001:10001:box:/workspace:/bin/bash\n"
                      "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n"},
    EtcFile{"group", "root:x:0:\nbox:x:10001:\nnogroup:x:65534:\n"},
    EtcFile{"hosts", "127.0.0.1 localhost box\n::1 localhost\n"},
    EtcFile{"hostname", "box\n"},
    EtcFile{"nsswitch.conf", "passwd: files\ngroup: files\nshadow: files\nhosts: files\nservices: files\n"
                             "protocols: files\nnetworks: files\n"},
};

constexpr std::array kCopied{"ld.so.cache", "alternatives", "ssl/certs", "ssl/openssl.cnf",
                             "mime.types",  "services",     "protocols", "os-release"};

Result<void> write(const fs::path& path, std::string_view bytes)
{
    auto fd = openFile(path, O_WRONLY | O_CREAT | O_EXCL, 0644);
    return fd ? writeAll(fd->get(), bytes) : forward(fd);
}

/// A file's bytes or a link's target; a folder one level deep. What is missing or special is left out.
Result<void> copyEntry(const fs::path& from, const fs::path& to, int depth)
{
    std::error_code error;
    const auto status = fs::symlink_status(from, error);
    if (fs::is_symlink(status)) {
        fs::copy_symlink(from, to, error);
        return error ? failErrno("link " + to.string(), error.value()) : Result<void>();
    }
    if (fs::is_regular_file(status)) {
        const auto bytes = readFile(from, kMaxCopyBytes);
        return bytes ? write(to, *bytes) : Result<void>();
    }
    if (!fs::is_directory(status) || depth == 0)
        return {};
    fs::create_directories(to, error);
    std::size_t count = 0;
    for (const auto& entry : fs::directory_iterator(from, error)) {
        if (++count > kMaxEntries)
            break;
        if (auto done = copyEntry(entry.path(), to / entry.path().filename(), depth - 1); !done)
            return done;
    }
    return {};
}

/// Names the inputs' state, so that a tree is made anew only when the host's files changed.
std::string stamp()
{
    Sha256 hash;
    hash.update("etc-tree-1");
    for (const EtcFile& file : kOwn)
        hash.update(file.name).update(file.content);
    for (const char* name : kCopied) {
        struct stat info{};
        ::lstat((fs::path("/etc") / name).c_str(), &info);
        for (const long value : {static_cast<long>(info.st_ino), static_cast<long>(info.st_size),
                                 static_cast<long>(info.st_mtim.tv_sec), static_cast<long>(info.st_mtim.tv_nsec)})
            hash.update(std::to_string(value)).update(",");
    }
    return hash.finish().hex().substr(0, 16);
}

Result<void> fill(const fs::path& tree)
{
    for (const EtcFile& file : kOwn)
        if (auto done = write(tree / file.name, file.content); !done)
            return done;
    std::error_code error;
    fs::create_directories(tree / "ssl", error);
    for (const char* name : kCopied)
        if (auto done = copyEntry(fs::path("/etc") / name, tree / name, 1); !done)
            return done;
    fs::create_symlink("/usr/share/zoneinfo/Etc/UTC", tree / "localtime", error);
    return error ? failErrno("link localtime", error.value()) : Result<void>();
}

/// A server's umask must not hide the files from the box's user.
void openToAll(const fs::path& tree)
{
    std::error_code error;
    using enum fs::perms;
    const auto folder = owner_all | group_read | group_exec | others_read | others_exec;
    fs::permissions(tree, folder, error);
    for (const auto& entry : fs::recursive_directory_iterator(tree, error))
        if (entry.is_symlink(error))
            continue;
        else if (entry.is_directory(error))
            fs::permissions(entry.path(), folder, error);
        else
            fs::permissions(entry.path(), owner_read | owner_write | group_read | others_read, error);
}

} // namespace

std::span<const EtcFile> ownEtcFiles() { return kOwn; }

Result<fs::path> makeEtcTree(const fs::path& folder)
{
    const fs::path tree = folder / ("etc-" + stamp());
    std::error_code error;
    if (fs::is_directory(tree, error))
        return tree;
    const fs::path fresh = folder / (".etc-" + toHex(randomBytes(8)));
    fs::create_directories(fresh, error);
    if (error)
        return failErrno("make " + fresh.string(), error.value());
    auto done = fill(fresh);
    if (done) {
        openToAll(fresh);
        fs::rename(fresh, tree, error);
        if (!error)
            return tree;
        done = failErrno("rename to " + tree.string(), error.value());
    }
    fs::remove_all(fresh, error);
    return forward(done);
}

} // namespace assay::sandbox::bubblewrap
