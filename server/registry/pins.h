// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/registry/skill_service.h"

#include <span>

namespace assay::registry {

/// One skill for a run, inside a transaction; see SkillService::pin. `revision` is an id or "current".
Result<PinnedSkill> pinOne(store::Connection& connection, std::string_view scope, const std::string& name,
                           std::string_view revision);

/// Whether runs may still start with these revisions: asked again in the transaction that writes the run, so that none
/// slips by between its resolving and a withdrawal or stop. `Refused` with `revision_withdrawn`.
Result<void> checkStillRunnable(store::Connection& connection, std::string_view scope,
                                std::span<const PinnedSkill> skills);

} // namespace assay::registry
