// SPDX-License-Identifier: Apache-2.0
#include "server/runs/tree_room.h"

#include "server/core/file_io.h"
#include "server/runs/tree_writer.h"

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <dirent.h>
#include <fcntl.h>
#include <format>
#include <linux/magic.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>
#include <vector>

namespace assay::runs {

namespace fs = std::filesystem;

namespace {

constexpr const char* kTrees = "trees";
constexpr std::string_view kStale = "stale-";
constexpr std::uint64_t kSlackBytes = 16U << 20; ///< for folders, and for what is being removed
constexpr std::uint64_t kBytesPerInode = 2048;
constexpr auto kEmptyPath = static_cast<unsigned>(AT_EMPTY_PATH);

bool setOption(int context, const char* key, const std::string& value)
{
    return ::fsconfig(context, FSCONFIG_SET_STRING, key, value.c_str(), 0) == 0;
}

std::unexpected<Error> unfit(const fs::path& place, std::string_view why)
{
    return fail(ErrorCode::Unavailable, "packages cannot be kept in memory here",
                std::format("{}: {}", place.string(), why));
}

/// Files in it must be executable inside boxes, and `bytes` must not be the last that others have.
Result<void> checkPlace(int place, const fs::path& path, std::uint64_t bytes)
{
    struct statfs type{};
    struct statvfs info{};
    if (::fstatfs(place, &type) != 0 || ::fstatvfs(place, &info) != 0)
        return failErrno("statfs of " + path.string(), errno);
    if (type.f_type != TMPFS_MAGIC)
        return unfit(path, "not a file system in memory");
    if ((info.f_flag & (ST_NOEXEC | ST_RDONLY)) != 0)
        return unfit(path, "mounted noexec or read-only");
    if (info.f_bavail < 2 * bytes / std::max<std::uint64_t>(info.f_frsize, 1))
        return unfit(path, "too little is free");
    return {};
}

/// A folder that somebody else made under our name is not used.
Result<UniqueFd> ownFolder(int place, const std::string& name)
{
    if (::mkdirat(place, name.c_str(), 0700) != 0 && errno != EEXIST)
        return failErrno("mkdirat of a folder for packages", errno);
    UniqueFd fd(::openat(place, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    struct stat info{};
    if (!fd || ::fstat(fd.get(), &info) != 0)
        return failErrno("openat of a folder for packages", errno);
    if (info.st_uid != ::geteuid())
        return unfit(name, "it belongs to another user");
    return fd;
}

std::vector<fs::path> memoryPlaces()
{
    std::vector<fs::path> out;
    if (const char* runtime = std::getenv("XDG_RUNTIME_DIR"); runtime != nullptr && *runtime == '/')
        out.emplace_back(runtime);
    out.emplace_back("/dev/shm");
    return out;
}

} // namespace

TreeRoom::~TreeRoom()
{
    if (m_cleaner.joinable())
        m_cleaner.join();
    if (m_kind != Kind::MemoryFolder)
        return;
    // Memory is not the server's any more when it has stopped; after a kill, the next start frees it.
    m_trees.reset();
    (void)removeTree(m_place.get(), m_name.c_str());
}

Result<void> TreeRoom::prepare(const fs::path& path)
{
    const int fd = m_root.get();
    const auto stale = std::format("{}{}", kStale, std::chrono::steady_clock::now().time_since_epoch().count());
    if (::renameat(fd, kTrees, fd, stale.c_str()) != 0 && errno != ENOENT)
        return failErrno("setting the old package cache aside", errno);
    if (::mkdirat(fd, kTrees, 0700) != 0)
        return failErrno("mkdirat in the package cache", errno);
    m_trees.reset(::openat(fd, kTrees, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!m_trees)
        return failErrno("openat in the package cache", errno);
    m_path = path.empty() ? fs::path(std::format("/proc/self/fd/{}", m_trees.get())) : path / kTrees;
    return {};
}

void TreeRoom::removeLeftovers()
{
    UniqueFd fd(::openat(m_root.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    DIR* listing = fd ? ::fdopendir(fd.get()) : nullptr;
    if (listing == nullptr)
        return;
    (void)fd.release(); // the listing's now
    std::vector<std::string> stale;
    while (const dirent* entry = ::readdir(listing))
        if (std::string_view(entry->d_name).starts_with(kStale))
            stale.emplace_back(entry->d_name);
    ::closedir(listing);
    // What cannot be removed now is met again by the next start.
    for (const auto& name : stale)
        (void)removeTree(m_root.get(), name.c_str());
}

Result<std::unique_ptr<TreeRoom>> TreeRoom::onDisk(const fs::path& directory)
{
    std::error_code code;
    fs::create_directories(directory, code);
    if (code)
        return failErrno("making the package cache's folder", code.value());
    auto root = openFile(directory, O_RDONLY | O_DIRECTORY);
    if (!root)
        return forward(root);
    if (::fchmod(root->get(), 0700) != 0)
        return failErrno("fchmod of the package cache", errno);
    std::unique_ptr<TreeRoom> room(new TreeRoom(Kind::Disk, std::move(*root)));
    if (auto prepared = room->prepare(directory); !prepared)
        return forward(prepared);
    room->m_cleaner = std::jthread([self = room.get()] { self->removeLeftovers(); });
    return room;
}

Result<std::unique_ptr<TreeRoom>> TreeRoom::privateMemory(std::uint64_t bytes)
{
    UniqueFd context(::fsopen("tmpfs", FSOPEN_CLOEXEC));
    if (!context || !setOption(context.get(), "source", "assay-packages") ||
        !setOption(context.get(), "size", std::to_string(bytes + kSlackBytes)) ||
        !setOption(context.get(), "nr_inodes", std::to_string((bytes + kSlackBytes) / kBytesPerInode)) ||
        !setOption(context.get(), "mode", "0700") ||
        ::fsconfig(context.get(), FSCONFIG_CMD_CREATE, nullptr, nullptr, 0) != 0)
        return failErrno("fsconfig tmpfs", errno);
    UniqueFd root(::fsmount(context.get(), FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV));
    if (!root)
        return failErrno("fsmount tmpfs", errno);
    std::unique_ptr<TreeRoom> room(new TreeRoom(Kind::PrivateMemory, std::move(root)));
    if (auto prepared = room->prepare({}); !prepared)
        return forward(prepared);
    // Boxes get clones of what is in it: older kernels clone only what is mounted somewhere.
    const UniqueFd clone(::open_tree(room->folder(), "", kEmptyPath | OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC));
    if (!clone)
        return failErrno("open_tree of a mount that is attached nowhere", errno);
    return room;
}

Result<std::unique_ptr<TreeRoom>> TreeRoom::memoryFolder(const fs::path& place, const std::string& name,
                                                         std::uint64_t bytes)
{
    auto parent = openFile(place, O_RDONLY | O_DIRECTORY);
    if (!parent)
        return forward(parent);
    if (auto fit = checkPlace(parent->get(), place, bytes); !fit)
        return forward(fit);
    auto folder = ownFolder(parent->get(), name);
    if (!folder)
        return forward(folder);
    if (::fchmod(folder->get(), 0700) != 0)
        return failErrno("fchmod of a folder for packages", errno);
    std::unique_ptr<TreeRoom> room(new TreeRoom(Kind::MemoryFolder, std::move(*folder)));
    room->m_place = std::move(*parent);
    room->m_name = name;
    if (auto prepared = room->prepare(place / name); !prepared)
        return forward(prepared);
    room->m_cleaner = std::jthread([self = room.get()] { self->removeLeftovers(); });
    return room;
}

Result<std::unique_ptr<TreeRoom>> TreeRoom::inMemory(const std::string& name, std::uint64_t bytes)
{
    if (::geteuid() == 0)
        if (auto room = privateMemory(bytes))
            return room;
    return inMemoryOf(memoryPlaces(), name, bytes);
}

Result<std::unique_ptr<TreeRoom>> TreeRoom::inMemoryOf(const std::vector<fs::path>& places, const std::string& name,
                                                       std::uint64_t bytes)
{
    Result<std::unique_ptr<TreeRoom>> room = fail(ErrorCode::Unavailable, "no place in memory was given");
    for (const auto& place : places) {
        room = memoryFolder(place, name, bytes);
        if (room)
            break;
    }
    return room;
}

} // namespace assay::runs
