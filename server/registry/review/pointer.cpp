// SPDX-License-Identifier: Apache-2.0
#include "server/registry/review/pointer.h"

#include "server/registry/review/proposal_steps.h"
#include "server/registry/skill_view.h"
#include "server/store/promotion_table.h"

namespace assay::review {

Result<void> recordMove(store::Connection& connection, std::string_view scope, const store::SkillRow& skill,
                        std::string_view from, std::uint64_t fromNumber, const store::RevisionRow* target,
                        const Move& move)
{
    store::PromotionRow row;
    row.sequence = skill.version;
    row.at = move.now;
    row.actor = move.actor;
    row.via = move.via;
    row.fromRevision = from;
    row.fromNumber = fromNumber;
    if (target) {
        row.toRevision = target->id;
        row.toNumber = target->number;
        row.toDigest = target->digest;
    }
    row.reason = move.reason;
    return store::PromotionTable(connection).insert(scope, skill.name, row);
}

Result<void> movePointer(store::Connection& connection, std::string_view scope, store::SkillRow& skill,
                         const store::RevisionRow* target, const Move& move)
{
    const std::string from = skill.currentRevision;
    const std::uint64_t fromNumber = from == skill.shown.id ? skill.shown.number : 0;
    skill.currentRevision = target ? target->id : std::string();
    skill.state = target ? "current" : "withdrawn";
    if (target) {
        skill.shown = registry::makeShown(*target);
        skill.description = target->description;
        skill.searchText = registry::skillSearchText(skill.name, target->description);
    }
    ++skill.version;
    skill.updatedAt = move.now;
    auto done = store::SkillTable(connection).update(scope, skill);
    if (done && target)
        done = store::RevisionTable(connection).markPromoted(scope, skill.name, target->id, move.now);
    if (done)
        done = recordMove(connection, scope, skill, from, from.empty() ? 0 : fromNumber, target, move);
    if (done)
        done = rebaseOpen(connection, scope, skill.name, target, move.now);
    return done;
}

} // namespace assay::review
