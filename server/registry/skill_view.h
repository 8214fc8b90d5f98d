// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/contract/skill.h"
#include "server/store/revision_table.h"
#include "server/store/skill_table.h"

namespace assay::registry {

/// The skill with the revision that its row shows. Members whose stored form is damaged are empty.
contract::Skill makeSkill(const store::SkillRow& row);

/// What a skill's row tells of `revision` from now on.
store::ShownRevision makeShown(const store::RevisionRow& revision);

/// `currentRevision` of the skill decides between "current" and "superseded".
contract::Revision makeRevision(const store::RevisionRow& row, std::string_view currentRevision);

} // namespace assay::registry
