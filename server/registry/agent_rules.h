// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/contract/agent.h"

namespace assay::registry {

/// What a definition must be, whoever made it: names like a skill's (1 to 64 of `a-z 0-9 -`, no edge or double hyphen),
/// at most 64 skills and 32 subagents without repetition, a subagent's skills among the agent's, known words for
/// execution and egress tier, an allow-list of at most 256 entries and only with its tier, limits above zero.
/// `InvalidArgument` with the member's pointer.
Result<void> checkDefinition(const contract::AgentDefinition& definition);

} // namespace assay::registry
