// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/store/revision_table.h"
#include "server/store/skill_table.h"

namespace assay::review {

/// Why and by whom a skill's current pointer moves.
struct Move
{
    std::string_view via; ///< "publish", "promote", "rollback", "withdraw", "stop" or "delete"
    std::string_view actor;
    std::string_view reason;
    Timestamp now;
};

/// Makes `target` current, or none when it is null, inside the caller's transaction: the skill's row (version and time
/// too), the revision's, the history, and what an open proposal is compared with. The caller has judged whether it may.
Result<void> movePointer(store::Connection& connection, std::string_view scope, store::SkillRow& skill,
                         const store::RevisionRow* target, const Move& move);

/// The part of `movePointer` beside the rows themselves, for a publish, which writes these anew. `skill` is as written;
/// `from` and `fromNumber` are what was current before.
Result<void> recordMove(store::Connection& connection, std::string_view scope, const store::SkillRow& skill,
                        std::string_view from, std::uint64_t fromNumber, const store::RevisionRow* target,
                        const Move& move);

} // namespace assay::review
