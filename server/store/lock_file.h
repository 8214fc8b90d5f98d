// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/error.h"
#include "server/core/unique_fd.h"

#include <filesystem>

namespace assay::store {

/// Holds an exclusive flock(2) on a file beside the database for as long as it lives; the kernel lets go of it when the
/// process ends in any way, so a crash leaves no stale lock.
class LockFile
{
public:
    /// `Unavailable`, naming the holder's process id, when another process holds it. Never waits.
    static Result<LockFile> take(const std::filesystem::path& path);

private:
    explicit LockFile(UniqueFd fd) : m_fd(std::move(fd)) {}
    UniqueFd m_fd;
};

} // namespace assay::store
