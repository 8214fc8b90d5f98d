// SPDX-License-Identifier: Apache-2.0
#pragma once

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
    /// Runs a real command in a real box of every driver, checks its output, and reports. At most some seconds.
    virtual Result<contract::Health> handshake() = 0;
    /// Can the server take requests? `Unavailable` with the reason otherwise.
    virtual Result<void> ready() = 0;
};

} // namespace assay::api
