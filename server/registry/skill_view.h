// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/contract/skill.h"
#include "server/store/revision_table.h"
#include "server/store/skill_table.h"

namespace assay::registry {

/// The skill of an answer about `revision`, which may be missing from a damaged catalog: then its members are empty.
contract::Skill makeSkill(const store::SkillRow& row, const std::optional<store::RevisionRow>& revision);

/// `currentRevision` of the skill decides between "current" and "superseded".
contract::Revision makeRevision(const store::RevisionRow& row, std::string_view currentRevision);

} // namespace assay::registry
