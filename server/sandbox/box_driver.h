// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/error.h"
#include "server/core/unique_fd.h"
#include "server/sandbox/box_spec.h"

#include <memory>
#include <string>
#include <vector>

namespace assay::sandbox {

/// One live box as its driver holds it: process 1 is `assay-init`, at the other end of `channel`. Destroying the handle
/// destroys the box and waits until nothing of it is left. One thread at a time, except `kill` and `meter`.
class BoxHandle
{
public:
    virtual ~BoxHandle() = default;
    /// The stream to `assay-init`, blocking, owned by the handle; it stays open until `destroy`.
    virtual int channel() const = 0;
    /// Ends every process of the box at once, `assay-init` included; any thread; does not wait.
    virtual void kill() = 0;
    /// The counters now; any thread.
    virtual BoxMeter meter() const = 0;
    /// Kills, waits (5 s at most) and removes everything of the box: processes, mounts, cgroups. An error names what is
    /// left; the driver keeps trying and `reap` reports it.
    virtual Result<void> destroy() = 0;
};

enum class DriverState : std::uint8_t { Ready, Unavailable, Disabled };

/// What a driver can do on this machine, found by trying. `reason` and `remedy` are sentences for an operator.
struct DriverStatus
{
    DriverState state = DriverState::Unavailable;
    std::string reason;
    std::string remedy;
    bool hardLimits = false;
    std::string limitsSource; ///< "cgroup2", "cgroup1" or "rlimits"
};

/// Makes boxes. `bubblewrap` and `docker` implement it and pass one conformance suite. Thread-safe.
class BoxDriver
{
public:
    virtual ~BoxDriver() = default;
    virtual std::string_view name() const = 0;
    /// Tries what a box needs, in at most 5 s; cached by the caller.
    virtual DriverStatus probe() = 0;
    /// Starts a box; on return `assay-init` answers or the call has failed and nothing is left. `Refused` with
    /// `driver_unavailable` when the machine cannot make a box as it must be: never a weaker one.
    virtual Result<std::unique_ptr<BoxHandle>> create(const BoxSpec& spec) = 0;
    /// Removes what boxes of an earlier, killed server process of the same instance left; never another instance's.
    virtual Result<std::vector<std::string>> reap() = 0;
};

} // namespace assay::sandbox
