// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/contract/agent.h"
#include "server/core/error.h"
#include "server/runs/run_plan.h"

namespace assay::runs {

/// The server's limits for a run that asks for nothing, and the most it may ask for.
struct LimitCeilings
{
    sandbox::BoxLimits box;
    sandbox::CommandLimits command;
};

/// Joins what the request asks for with the agent's bound and the server's ceiling. A request above either is
/// `InvalidArgument` at its member, naming the limit: a limit is never lowered in silence. An agent's own limit above
/// the ceiling (which an operator may lower later) is cut to it. Not a number, negative, fractional where whole, or too
/// small to run anything is `InvalidArgument`.
Result<EffectiveLimits> effectiveLimits(const contract::RunLimits& asked,
                                        const std::optional<contract::RunLimits>& agent, const LimitCeilings& ceilings);

/// The `timeout_ms` of a session's command: `fallback` when absent, never above it.
Result<std::chrono::milliseconds> effectiveTimeout(const std::optional<std::uint64_t>& asked,
                                                   std::chrono::milliseconds ceiling);

} // namespace assay::runs
