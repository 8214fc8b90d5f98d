// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <span>
#include <sys/types.h>

namespace assay::sandbox::bubblewrap {

/// A mount to attach in the child's own mount namespace before it gives up root.
struct StagedMount
{
    int fd = -1;
    const char* target = nullptr;
};

/// Everything the child of the launcher does, prepared so that it needs no memory and no lock: it runs in the server's
/// address space until it executes bubblewrap. `failedStep` and `failedErrno` come back when it could not.
struct LaunchPlan
{
    int program = -1;            ///< bubblewrap, opened
    char* const* argv = nullptr; ///< null-terminated
    std::span<const int> passed; ///< become descriptors 0, 1, 2 ... of bubblewrap; kMaxPassed at most
    std::span<const int> join;   ///< control files to write "0" to
    std::span<const StagedMount> mounts;
    bool dropIdentity = false;
    uid_t uid = 0;
    gid_t gid = 0;
    int parent = 0; ///< process id of the server

    const char* failedStep = nullptr;
    int failedErrno = 0;

    static constexpr std::size_t kMaxPassed = 12;
};

/// Entry of the child (clone(2) with CLONE_VM and CLONE_VFORK); `plan` is a LaunchPlan. Never returns on success.
int runLaunchChild(void* plan);

} // namespace assay::sandbox::bubblewrap
