// SPDX-License-Identifier: Apache-2.0
#include "server/store/filesystem_package_store.h"

#include "server/core/file_io.h"
#include "server/core/random.h"
#include "server/store/bundle_folders.h"
#include "server/store/verified_bundle.h"
#include "server/store/verified_hand_out.h"

#include <algorithm>
#include <cerrno>
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

namespace assay::store {

namespace fs = std::filesystem;

namespace {

constexpr const char* kTemporaryFolder = "tmp";

Result<void> checkFingerprint(std::string_view fingerprint)
{
    if (!isFingerprint(fingerprint))
        return fail(ErrorCode::Internal, "the scope's fingerprint is malformed");
    return {};
}

Result<UniqueFd> openFolderAt(int parent, const std::string& name)
{
    UniqueFd fd(::openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (fd)
        return fd;
    if (errno == ENOENT)
        return fail(ErrorCode::NotFound, "the stored bytes are missing", "no folder " + name);
    return failErrno("open folder " + name, errno);
}

Result<UniqueFd> makeFolderAt(int parent, const std::string& name)
{
    if (::mkdirat(parent, name.c_str(), 0700) != 0 && errno != EEXIST)
        return failErrno("make folder " + name, errno);
    return openFolderAt(parent, name);
}

Result<void> sync(int fd, std::string_view what)
{
    return ::fsync(fd) == 0 ? Result<void>{} : Result<void>(failErrno("fsync " + std::string(what), errno));
}

std::string shardOf(const Digest& digest) { return digest.hex().substr(0, 2); }

Result<std::string> readWhole(int fd, std::uint64_t sizeBytes)
{
    std::string out;
    out.resize(sizeBytes);
    std::size_t done = 0;
    while (done < out.size()) {
        const ssize_t got = ::read(fd, out.data() + done, out.size() - done);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return failErrno("read a bundle", errno);
        if (got == 0)
            break;
        done += static_cast<std::size_t>(got);
    }
    out.resize(done);
    return out;
}

/// The file of a bundle and its size; an empty descriptor when something else has its name.
Result<std::pair<UniqueFd, std::uint64_t>> openBundleAt(int shard, const Digest& digest)
{
    const std::string name = digest.hex();
    // Non-blocking: a FIFO in its place must not hold the server up.
    UniqueFd fd(::openat(shard, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (!fd && errno == ENOENT)
        return failMissingBundle(digest);
    if (!fd && errno != ELOOP)
        return failErrno("open bundle " + name, errno);
    struct stat info{};
    if (!fd || ::fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode) ||
        static_cast<std::uint64_t>(info.st_size) > kMaxBundleBytes)
        return std::pair(UniqueFd(), std::uint64_t{0});
    return std::pair(std::move(fd), static_cast<std::uint64_t>(info.st_size));
}

Result<std::string> readBundleAt(int shard, const Digest& digest)
{
    auto file = openBundleAt(shard, digest);
    if (!file)
        return forward(file);
    if (!file->first)
        return std::string(); // hashes to something else: reported as damaged
    return readWhole(file->first.get(), file->second);
}

Result<UniqueFd> openRoot(const fs::path& root)
{
    std::error_code error;
    fs::create_directories(root, error);
    if (error)
        return failErrno("make " + root.string(), error.value());
    UniqueFd fd(::open(root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!fd || ::faccessat(fd.get(), ".", R_OK | W_OK | X_OK, AT_EACCESS) != 0)
        return fail(ErrorCode::Unavailable,
                    "the folder of the package store cannot be written; check its owner and permissions",
                    root.string());
    return fd;
}

} // namespace

Result<std::unique_ptr<SkillPackageStore>> FilesystemPackageStore::open(const fs::path& root, RootUse use)
{
    auto top = openRoot(root);
    if (!top)
        return forward(top);
    auto temporary = makeFolderAt(top->get(), kTemporaryFolder);
    if (!temporary)
        return forward(temporary);
    if (use == RootUse::Owner)
        (void)removeFiles(temporary->get(), Timestamp::max(), Removal::Real, [](const std::string&) { return false; });
    // Device and inode tell two roots apart without telling anyone where they are.
    struct stat info{};
    if (::fstat(top->get(), &info) != 0)
        return failErrno("stat " + root.string(), errno);
    const std::string place = std::to_string(info.st_dev) + ":" + std::to_string(info.st_ino);
    std::string identity = "filesystem:" + Digest::ofBytes(place).hex().substr(0, 16);
    return std::unique_ptr<SkillPackageStore>(
        new FilesystemPackageStore(std::move(*top), std::move(*temporary), std::move(identity)));
}

Result<UniqueFd> FilesystemPackageStore::makeShard(std::string_view scopeFingerprint, const Digest& digest)
{
    if (auto checked = checkFingerprint(scopeFingerprint); !checked)
        return forward(checked);
    const std::string scopeName(scopeFingerprint);
    auto scope = makeFolder(m_root.get(), scopeName, scopeName);
    return scope ? makeFolder(scope->get(), shardOf(digest), scopeName + "/" + shardOf(digest)) : std::move(scope);
}

// A folder's own name must survive a crash before anything in it is promised; another thread may just have made it.
Result<UniqueFd> FilesystemPackageStore::makeFolder(int parent, const std::string& name, const std::string& path)
{
    constexpr std::size_t kMaxRemembered = 100'000;
    auto folder = makeFolderAt(parent, name);
    if (!folder)
        return folder;
    {
        const std::scoped_lock lock(m_mutex);
        if (m_durable.contains(path))
            return folder;
    }
    if (auto synced = sync(parent, "above " + name); !synced)
        return forward(synced);
    const std::scoped_lock lock(m_mutex);
    if (m_durable.size() >= kMaxRemembered)
        m_durable.clear();
    m_durable.insert(path);
    return folder;
}

Result<UniqueFd> FilesystemPackageStore::openShard(std::string_view scopeFingerprint, const Digest& digest) const
{
    if (auto checked = checkFingerprint(scopeFingerprint); !checked)
        return forward(checked);
    auto scope = openFolderAt(m_root.get(), std::string(scopeFingerprint));
    return scope ? openFolderAt(scope->get(), shardOf(digest)) : std::move(scope);
}

Result<void> FilesystemPackageStore::writeTemporary(const std::string& name, std::span<const std::string_view> pieces)
{
    const UniqueFd fd(
        ::openat(m_temporary.get(), name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!fd)
        return failErrno("make a bundle's file", errno);
    // Small pieces (length prefixes) go out together.
    constexpr std::size_t kBufferBytes = 256U << 10;
    std::string buffer;
    for (const std::string_view piece : pieces) {
        if (buffer.size() + piece.size() > kBufferBytes) {
            if (auto done = writeAll(fd.get(), buffer); !done)
                return done;
            buffer.clear();
        }
        if (piece.size() < kBufferBytes)
            buffer.append(piece);
        else if (auto done = writeAll(fd.get(), piece); !done)
            return done;
    }
    if (auto done = writeAll(fd.get(), buffer); !done)
        return done;
    return sync(fd.get(), "a bundle");
}

Result<void> FilesystemPackageStore::put(std::string_view scopeFingerprint, const Digest& digest,
                                         std::span<const std::string_view> pieces)
{
    auto shard = makeShard(scopeFingerprint, digest);
    if (!shard)
        return forward(shard);
    if (auto stored = readBundleAt(shard->get(), digest); stored && Digest::ofBytes(*stored) == digest) {
        // As young as a new one for the collector; and the one who wrote it may not have synced its name yet.
        ::utimensat(shard->get(), digest.hex().c_str(), nullptr, AT_SYMLINK_NOFOLLOW);
        return sync(shard->get(), "a shard");
    }
    if (auto placed = placeNew(shard->get(), digest, pieces); !placed)
        return placed;
    return sync(shard->get(), "a shard");
}

Result<void> FilesystemPackageStore::placeNew(int shard, const Digest& digest, std::span<const std::string_view> pieces)
{
    const std::string name = toHex(randomBytes(16));
    {
        const std::scoped_lock lock(m_mutex);
        m_writing.insert(name);
    }
    auto done = writeTemporary(name, pieces);
    if (done && ::renameat(m_temporary.get(), name.c_str(), shard, digest.hex().c_str()) != 0)
        done = failErrno("rename a bundle", errno);
    if (!done)
        ::unlinkat(m_temporary.get(), name.c_str(), 0);
    const std::scoped_lock lock(m_mutex);
    m_writing.erase(name);
    return done;
}

Result<Bundle> FilesystemPackageStore::fetch(std::string_view scopeFingerprint, const Digest& digest)
{
    auto shard = openShard(scopeFingerprint, digest);
    if (!shard)
        return forward(shard);
    auto bytes = readBundleAt(shard->get(), digest);
    if (!bytes)
        return forward(bytes);
    return verifyBundle(std::move(*bytes), digest);
}

Result<void> FilesystemPackageStore::read(std::string_view scopeFingerprint, const Digest& digest,
                                          const PieceSink& each)
{
    constexpr std::uint64_t kPieceBytes = 1U << 20;
    auto shard = openShard(scopeFingerprint, digest);
    if (!shard)
        return forward(shard);
    auto file = openBundleAt(shard->get(), digest);
    if (!file)
        return forward(file);
    if (!file->first)
        return failDamagedBundle(digest);
    VerifiedHandOut handOut(each);
    for (std::uint64_t left = file->second; left > 0;) {
        auto piece = readWhole(file->first.get(), std::min(left, kPieceBytes));
        if (!piece)
            return forward(piece);
        if (piece->empty())
            break; // cut short meanwhile: the digest tells
        if (auto taken = handOut.add(*piece); !taken)
            return taken;
        left -= piece->size();
    }
    return handOut.finish(digest);
}

Result<void> FilesystemPackageStore::remove(std::string_view scopeFingerprint, const Digest& digest)
{
    auto shard = openShard(scopeFingerprint, digest);
    if (!shard)
        return shard.error().code == ErrorCode::NotFound ? Result<void>{} : Result<void>(forward(shard));
    if (::unlinkat(shard->get(), digest.hex().c_str(), 0) != 0 && errno != ENOENT)
        return failErrno("remove a bundle", errno);
    return sync(shard->get(), "a shard");
}

Result<std::vector<StoredBundle>> FilesystemPackageStore::list(const BundleKey* after, std::uint32_t limit)
{
    return listBundleFiles(m_root.get(), after, limit);
}

Result<Removed> FilesystemPackageStore::removeLeftovers(Timestamp writtenBefore, Removal removal)
{
    return removeFiles(m_temporary.get(), writtenBefore, removal, [this](const std::string& name) {
        const std::scoped_lock lock(m_mutex);
        return m_writing.contains(name);
    });
}

Result<bool> FilesystemPackageStore::removeIn(Connection& /*connection*/, const BundleKey& key, Timestamp putBefore)
{
    auto shard = openShard(key.scopeFingerprint, key.digest);
    if (!shard)
        return shard.error().code == ErrorCode::NotFound ? Result<bool>(false) : Result<bool>(forward(shard));
    const std::string name = key.digest.hex();
    const auto written = writtenAt(shard->get(), name);
    if (!written || *written >= putBefore)
        return false;
    if (::unlinkat(shard->get(), name.c_str(), 0) != 0)
        return errno == ENOENT ? Result<bool>(false) : Result<bool>(failErrno("remove a bundle", errno));
    return true;
}

} // namespace assay::store
