// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/sandbox/box_spec.h"

namespace assay::sandbox {

/// Why the server ended a command.
enum class KillReason : std::uint8_t { None, Cancelled, Timeout, OutputCap };

/// What is known at a command's end, each from the place that knows it.
struct EndFacts
{
    KillReason killReason = KillReason::None; ///< what the server asked for first
    bool killTookEffect = false;  ///< the process was alive when the request came, or the box did not answer
    bool overQuota = false;       ///< as the init measured
    bool outputCapBroken = false; ///< a stream went over its cap in mode `terminate`
    bool outOfMemory = false;     ///< the box's count of kills for memory grew
    bool processesDenied = false; ///< the box's count of refused forks grew
    bool boxLost = false;         ///< the channel ended before the command's end was told
    std::optional<int> exitCode;
    std::optional<int> signal;
};

/// The first of the causes that is true, in the order of `Termination`.
Termination terminationOf(const EndFacts& facts);

} // namespace assay::sandbox
