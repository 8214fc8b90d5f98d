// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/contract/page.h"
#include "server/contract/skill.h"
#include "server/registry/skill_service.h"

namespace assay::registry {

/// What a caller may say about a skill beside its package. Each refusal is `InvalidArgument` with the member's pointer
/// and the limit.

/// A note of at most 4,000 bytes; a visibility of "public", "restricted" or "private".
Result<void> checkPublishOptions(const PublishOptions& options);
/// At most 64 labels, names of 1 to 128 bytes, values of at most 1,024.
Result<void> checkPatch(const contract::PatchSkill& patch);
/// `q` of at most 256 bytes; a known state.
Result<void> checkFilter(const contract::SkillFilter& filter);
/// At most 2,000 bytes.
Result<void> checkReason(std::string_view reason);
/// 1 to 200.
Result<void> checkPage(const contract::PageRequest& page);

} // namespace assay::registry
