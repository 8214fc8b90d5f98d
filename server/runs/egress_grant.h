// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/error.h"
#include "server/runs/run_plan.h"

namespace assay::runs {

/// Joins the grant (the agent's, or the run's own without an agent) with what the skills declare. A granted tier above
/// `none` is `Refused` with `egress_unavailable`: no gateway serves boxes on this server, and a tier that cannot be
/// enforced is never pretended. A skill that declares hosts runs without them, and the manifest says `clamped`.
Result<EffectiveEgress> effectiveEgress(const std::optional<contract::Egress>& asked,
                                        const std::optional<contract::Agent>& agent,
                                        const std::vector<registry::PinnedSkill>& skills);

} // namespace assay::runs
