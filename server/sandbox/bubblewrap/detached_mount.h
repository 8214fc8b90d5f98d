// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/error.h"
#include "server/core/unique_fd.h"

#include <cstdint>
#include <filesystem>
#include <sys/types.h>

namespace assay::sandbox::bubblewrap {

/// Mounts that hang nowhere yet (open_tree(2), fsmount(2)): a descriptor carries one into the mount namespace of a
/// single box, so that a folder below a directory that only root may enter reaches a box whose starter may not, and no
/// path of the host shows. They need CAP_SYS_ADMIN and vanish with their descriptor unless they were attached.

/// The folder at `path`, read-only, nosuid, nodev, without what is mounted below it. A mount shows the path of its root
/// in its file system to everyone inside (/proc/self/mountinfo), and so where the server keeps its data. Therefore this
/// is an overlay of the folder and of `emptyFolder` (an overlay without a writable layer needs two), which shows
/// neither; only where the kernel has no overlay, or not over this file system, it is a plain bind.
Result<UniqueFd> readOnlyFolder(const std::filesystem::path& path, int emptyFolder);

/// An empty file system in memory of at most `bytes` and `inodes`, owned by `uid` and `gid`; nosuid, nodev.
Result<UniqueFd> freshTmpfs(std::uint64_t bytes, std::uint64_t inodes, uid_t uid, gid_t gid, const char* mode);

} // namespace assay::sandbox::bubblewrap
