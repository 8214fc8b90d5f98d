// SPDX-License-Identifier: Apache-2.0
#include "server/registry/review/proposal_steps.h"

#include "server/core/ids.h"

namespace assay::review {

namespace {

Result<void> setBase(store::Connection& connection, std::string_view scope, const store::SkillRow& skill,
                     store::ProposalRow& row)
{
    if (skill.currentRevision.empty())
        return {};
    auto current =
        store::RevisionTable(connection).find(scope, skill.name, skill.currentRevision, store::WithFiles::No);
    if (!current)
        return forward(current);
    row.baseRevision = skill.currentRevision;
    if (*current) {
        row.baseNumber = (*current)->number;
        row.baseDigest = (*current)->digest;
    }
    return {};
}

} // namespace

Result<store::ProposalRow> openProposal(store::Connection& connection, const auth::Identity& by,
                                        const store::SkillRow& skill, const store::RevisionRow& revision, Timestamp now)
{
    const std::string_view scope = by.scopeFingerprint;
    store::ProposalRow row;
    row.id = newId("prop_", now);
    row.skill = skill.name;
    row.revision = revision.id;
    row.number = revision.number;
    row.digest = revision.digest.value_or(Digest());
    row.publisher = revision.publisher;
    row.state = "open";
    row.createdAt = now;
    row.updatedAt = now;
    row.note = revision.note;
    row.description = revision.description;
    auto done = closeOpen(connection, scope, skill.name, {},
                          {"superseded", by.principal, "a newer revision was published", row.id, now});
    if (done)
        done = setBase(connection, scope, skill, row);
    if (done)
        done = store::ProposalTable(connection).insert(scope, row);
    if (!done)
        return forward(done);
    return row;
}

Result<void> closeOpen(store::Connection& connection, std::string_view scope, std::string_view skill,
                       std::string_view revision, const Ending& ending)
{
    store::ProposalTable table(connection);
    auto open = table.openOf(scope, skill);
    if (!open)
        return forward(open);
    if (!*open || (!revision.empty() && (*open)->revision != revision))
        return {};
    store::ProposalRow& row = **open;
    row.state = ending.state;
    row.closedAt = ending.now;
    row.closedBy = ending.by;
    row.reason = ending.reason;
    row.supersededBy = ending.supersededBy;
    row.updatedAt = ending.now;
    ++row.version;
    return table.update(scope, row);
}

Result<void> rebaseOpen(store::Connection& connection, std::string_view scope, std::string_view skill,
                        const store::RevisionRow* target, Timestamp now)
{
    store::ProposalTable table(connection);
    auto open = table.openOf(scope, skill);
    if (!open)
        return forward(open);
    if (!*open || (target && (*open)->revision == target->id))
        return {};
    store::ProposalRow& row = **open;
    row.baseRevision = target ? target->id : std::string();
    row.baseNumber = target ? target->number : 0;
    row.baseDigest = target ? target->digest : std::nullopt;
    row.updatedAt = now;
    ++row.version;
    return table.update(scope, row);
}

} // namespace assay::review
