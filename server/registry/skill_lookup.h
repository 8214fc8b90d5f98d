// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/store/revision_table.h"
#include "server/store/skill_table.h"

namespace assay::registry {

/// The skill in this exact scope; `NotFound`, in the same words, for a missing one, a deleted one and another scope's.
Result<store::SkillRow> requireSkill(store::Connection& connection, std::string_view scope, std::string_view name);

/// The same, when it is still what the caller saw: `PreconditionFailed` otherwise.
Result<store::SkillRow> requireMatching(store::Connection& connection, std::string_view scope, std::string_view name,
                                        const std::optional<std::string>& ifMatch);

/// A revision of the skill by id, or "current"; `NotFound` when it has none of that id.
Result<store::RevisionRow> requireRevision(store::Connection& connection, std::string_view scope,
                                           const store::SkillRow& skill, std::string_view revision,
                                           store::WithFiles files);

} // namespace assay::registry
