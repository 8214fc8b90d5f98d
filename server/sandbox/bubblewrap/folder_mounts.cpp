// SPDX-License-Identifier: Apache-2.0
#include "server/sandbox/bubblewrap/folder_mounts.h"

#include "server/core/file_io.h"
#include "server/sandbox/bubblewrap/detached_mount.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>

namespace assay::sandbox::bubblewrap {

namespace {

UniqueFd cloned(int mount)
{
    constexpr auto kFlags = static_cast<unsigned>(AT_EMPTY_PATH) | OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC;
    return UniqueFd(::open_tree(mount, "", kFlags));
}

} // namespace

Result<UniqueFd> FolderMounts::take(const std::filesystem::path& folder, int emptyFolder)
{
    auto opened = openFile(folder, O_PATH | O_DIRECTORY | O_NOFOLLOW);
    if (!opened)
        return opened;
    struct stat info{};
    if (::fstat(opened->get(), &info) != 0)
        return failErrno("fstat " + folder.string(), errno);
    {
        const std::scoped_lock lock(m_mutex);
        dropRemoved();
        if (UniqueFd clone = cloneOf(folder, info))
            return clone;
    }
    auto mount = readOnlyFolder(folder, emptyFolder);
    if (!mount)
        return mount;
    UniqueFd clone = cloned(mount->get());
    if (!clone)
        return mount;
    const std::scoped_lock lock(m_mutex);
    if (m_kept.size() < kMaxKept)
        m_kept.insert_or_assign(folder, Kept{std::move(*opened), std::move(*mount), info.st_dev, info.st_ino});
    return clone;
}

/// Under the lock. A mount of a folder that is gone would hold on to the memory of its files.
void FolderMounts::dropRemoved()
{
    std::erase_if(m_kept, [](const auto& each) {
        struct stat info{};
        return ::fstat(each.second.folder.get(), &info) != 0 || info.st_nlink == 0;
    });
}

/// Under the lock.
UniqueFd FolderMounts::cloneOf(const std::filesystem::path& folder, const struct ::stat& info) const
{
    const auto found = m_kept.find(folder);
    if (found == m_kept.end() || found->second.device != info.st_dev || found->second.inode != info.st_ino)
        return {};
    return cloned(found->second.mount.get());
}

std::size_t FolderMounts::kept() const
{
    const std::scoped_lock lock(m_mutex);
    return m_kept.size();
}

} // namespace assay::sandbox::bubblewrap
