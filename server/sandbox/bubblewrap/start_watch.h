// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/error.h"
#include "server/core/unique_fd.h"

#include <chrono>

namespace assay::sandbox::bubblewrap {

/// Waits until the box's init runs: bubblewrap has told the init's process id on `info`, and `started`, which only the
/// two of them hold, was closed. Returns the init's pidfd. Fails at once when bubblewrap (`process`, a pidfd) ends, and
/// with `Timeout` at the deadline.
struct StartedInit
{
    int pid = -1;
    UniqueFd pidfd;
};
Result<StartedInit> awaitInit(int info, int started, int process, std::chrono::steady_clock::time_point deadline);

/// Waits until the process behind a pidfd has ended; false at the deadline.
bool awaitEnd(int pidfd, std::chrono::steady_clock::time_point deadline);

} // namespace assay::sandbox::bubblewrap
