// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/unique_fd.h"

namespace assay::daemon {

/// SIGTERM and SIGINT as one wait; the second of them ends the process at once. Handlers, not a blocked mask, so that
/// what the server executes starts with ordinary signals. One object a process.
class Signals
{
public:
    enum class Wake { Signal, Failure };

    Signals();
    ~Signals();
    Signals(const Signals&) = delete;
    Signals& operator=(const Signals&) = delete;

    /// Waits, without a deadline, for a signal or for `fail`.
    Wake wait();
    /// Wakes `wait`, from any thread.
    void fail();

private:
    UniqueFd m_failure;
};

} // namespace assay::daemon
