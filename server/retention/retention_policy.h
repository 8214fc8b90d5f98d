// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/store/expired_rows.h"
#include "server/store/retention_table.h"

namespace assay::retention {

/// How long things are kept where a scope does not say so itself, in days; 0 is for ever.
struct RetentionDefaults
{
    std::uint32_t runsDays = 90;
    std::uint32_t artifactsDays = 90;
    std::uint32_t revisionsDays = 90; ///< after a withdrawal, or the deletion of the skill
};

/// The most days that can be asked for: a hundred years.
inline constexpr std::uint32_t kMaxDays = 36'500;

/// What is expired in a scope at `now`.
store::Cutoffs cutoffsAt(Timestamp now, const RetentionDefaults& defaults, const store::RetentionRow& scope);

} // namespace assay::retention
