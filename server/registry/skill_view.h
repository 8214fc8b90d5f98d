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

/// The skill decides between "current", "superseded" and "proposed".
contract::Revision makeRevision(const store::RevisionRow& row, const store::SkillRow& skill);

/// What `q` looks in: name and description, case-folded, the first 8 KiB.
std::string skillSearchText(std::string_view name, std::string_view description);

} // namespace assay::registry
