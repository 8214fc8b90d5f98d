// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/auth/identity.h"
#include "server/contract/health.h"
#include "server/core/error.h"

namespace assay::api {

/// What the health routes need to know of the server. `HealthMonitor` implements it. Thread-safe.
class HealthReporter
{
public:
    virtual ~HealthReporter() = default;
    /// What is known now; never starts a box.
    virtual contract::Health report() = 0;
    /// Runs a real command in a real box of every driver, checks its output, and reports; `by` asked for it, or nobody
    /// (null). At most some seconds. Who asks while one runs gets its result.
    virtual Result<contract::Health> handshake(const auth::Identity* by) = 0;
    /// Can the server do its work? `Unavailable` with the cause and the remedy otherwise. Makes a handshake when the
    /// last one is older than some seconds.
    virtual Result<void> ready() = 0;
};

} // namespace assay::api
