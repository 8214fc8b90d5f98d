// SPDX-License-Identifier: Apache-2.0
#include "server/sandbox/bubblewrap/detached_mount.h"

#include "server/core/file_io.h"

#include <cerrno>
#include <fcntl.h>
#include <string>
#include <sys/mount.h>

namespace assay::sandbox::bubblewrap {

namespace {

constexpr auto kEmptyPath = static_cast<unsigned>(AT_EMPTY_PATH);
constexpr unsigned kReadOnly = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;

bool setOption(int context, const char* key, const std::string& value)
{
    return ::fsconfig(context, FSCONFIG_SET_STRING, key, value.c_str(), 0) == 0;
}

UniqueFd overlay(int folder, int emptyFolder)
{
    UniqueFd context(::fsopen("overlay", FSOPEN_CLOEXEC));
    if (!context)
        return {};
    // The kernel shows this text as it was given.
    const std::string layers =
        "/proc/self/fd/" + std::to_string(folder) + ":/proc/self/fd/" + std::to_string(emptyFolder);
    if (!setOption(context.get(), "lowerdir", layers) ||
        ::fsconfig(context.get(), FSCONFIG_CMD_CREATE, nullptr, nullptr, 0) != 0)
        return {};
    return UniqueFd(::fsmount(context.get(), FSMOUNT_CLOEXEC, kReadOnly));
}

Result<UniqueFd> bind(int folder, const std::filesystem::path& path)
{
    UniqueFd tree(::open_tree(folder, "", kEmptyPath | OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC));
    if (!tree)
        return failErrno("open_tree " + path.string(), errno);
    mount_attr attributes{};
    attributes.attr_set = kReadOnly;
    if (::mount_setattr(tree.get(), "", kEmptyPath, &attributes, sizeof attributes) != 0)
        return failErrno("mount_setattr " + path.string(), errno);
    return tree;
}

} // namespace

Result<UniqueFd> readOnlyFolder(const std::filesystem::path& path, int emptyFolder)
{
    auto folder = openFile(path, O_PATH | O_DIRECTORY | O_NOFOLLOW);
    if (!folder)
        return folder;
    if (UniqueFd mount = overlay(folder->get(), emptyFolder))
        return mount;
    return bind(folder->get(), path);
}

Result<UniqueFd> freshTmpfs(std::uint64_t bytes, std::uint64_t inodes, uid_t uid, gid_t gid, const char* mode)
{
    UniqueFd context(::fsopen("tmpfs", FSOPEN_CLOEXEC));
    if (!context)
        return failErrno("fsopen tmpfs", errno);
    const bool set = setOption(context.get(), "source", "box") &&
                     setOption(context.get(), "size", std::to_string(bytes)) &&
                     setOption(context.get(), "nr_inodes", std::to_string(inodes)) &&
                     setOption(context.get(), "uid", std::to_string(uid)) &&
                     setOption(context.get(), "gid", std::to_string(gid)) && setOption(context.get(), "mode", mode);
    if (!set || ::fsconfig(context.get(), FSCONFIG_CMD_CREATE, nullptr, nullptr, 0) != 0)
        return failErrno("fsconfig tmpfs", errno);
    UniqueFd mount(::fsmount(context.get(), FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV));
    if (!mount)
        return failErrno("fsmount tmpfs", errno);
    return mount;
}

} // namespace assay::sandbox::bubblewrap
