// SPDX-License-Identifier: Apache-2.0
// Reading proposals, and the decisions that end them.
#include "server/registry/review/proposals.h"

#include "server/core/ids.h"
#include "server/registry/precondition.h"
#include "server/registry/review/judgement.h"
#include "server/registry/review/promotion.h"
#include "server/registry/review/proposal_forms.h"
#include "server/registry/review/scope_settings.h"
#include "server/registry/skill_lookup.h"
#include "server/registry/skill_view.h"
#include "server/store/page_token.h"
#include "server/store/review_mark_table.h"

namespace assay::review {

using store::Connection;
using store::ProposalRow;
using store::ProposalTable;

Result<contract::Proposal> Proposals::view(Connection& connection, std::string_view scope, const ProposalRow& row) const
{
    auto revision = store::RevisionTable(connection).find(scope, row.skill, row.revision, store::WithFiles::No);
    if (!revision)
        return forward(revision);
    auto judged = judge(connection, m_checks, scope, row, *revision ? &**revision : nullptr);
    if (!judged)
        return forward(judged);
    return makeProposal(row, *judged);
}

Result<ProposalRow> Proposals::requireOpen(Connection& connection, std::string_view scope, std::string_view id,
                                           const std::optional<std::string>& ifMatch) const
{
    auto row = requireProposal(connection, scope, id);
    if (!row)
        return row;
    if (ifMatch && *ifMatch != "*") {
        auto seen = view(connection, scope, *row);
        if (!seen)
            return forward(seen);
        if (auto matches = registry::checkIfMatch(ifMatch, seen->etag); !matches)
            return forward(matches);
    }
    if (row->state != "open")
        return closedProposal(*row);
    return row;
}

Result<contract::Proposal> Proposals::change(const auth::Identity& by, std::string_view id,
                                             const std::optional<std::string>& ifMatch, const Change& change)
{
    auto done = m_database.write([&](Connection& connection) -> Result<void> {
        auto row = requireOpen(connection, by.scopeFingerprint, id, ifMatch);
        if (!row)
            return forward(row);
        if (auto changed = change(connection, *row); !changed)
            return forward(changed);
        row->updatedAt = m_clock.now();
        ++row->version;
        return ProposalTable(connection).update(by.scopeFingerprint, *row);
    });
    // Told on a reader: every check is judged for it, and writes of others do not wait for that.
    return done ? find(by, id) : Result<contract::Proposal>(forward(done));
}

Result<void> Proposals::log(Connection& connection, const auth::Identity& by, audit::Operation operation,
                            const ProposalRow& row) const
{
    return m_ledger.append(
        connection, audit::recordBy(by, operation, audit::Decision::Allowed, audit::ResourceType::Proposal, row.id));
}

Result<contract::Page<contract::Proposal>>
Proposals::list(const auth::Identity& by, const contract::ProposalFilter& filter, const contract::PageRequest& page)
{
    const std::string_view scope = by.scopeFingerprint;
    const store::ListIdentity identity{"proposals", scope, {filter.state, filter.skill, filter.publisher}};
    auto cursor = store::readPageToken(identity, page.token);
    if (!cursor)
        return forward(cursor);
    return m_database.read([&](Connection& connection) -> Result<contract::Page<contract::Proposal>> {
        auto settings = scopeSettings(connection, scope);
        if (!settings)
            return forward(settings);
        auto listed = ProposalTable(connection)
                          .list(scope, {filter.state, filter.skill, filter.publisher, settings->requiredApprovals,
                                        *cursor, page.size});
        if (!listed)
            return forward(listed);
        contract::Page<contract::Proposal> out;
        for (const ProposalRow& row : listed->rows)
            out.items.push_back(makeSummary(row, settings->requiredApprovals));
        if (listed->more)
            out.nextPageToken = store::makePageToken(identity, *listed->more);
        return out;
    });
}

Result<contract::Proposal> Proposals::find(const auth::Identity& by, std::string_view id)
{
    return m_database.read([&](Connection& connection) -> Result<contract::Proposal> {
        auto row = requireProposal(connection, by.scopeFingerprint, id);
        return row ? view(connection, by.scopeFingerprint, *row) : Result<contract::Proposal>(forward(row));
    });
}

Result<contract::Proposal> Proposals::acknowledge(const auth::Identity& by, std::string_view id,
                                                  const contract::AcknowledgeRequest& request,
                                                  const std::optional<std::string>& ifMatch)
{
    return change(by, id, ifMatch, [&](Connection& connection, ProposalRow& row) -> Result<void> {
        if (request.digest != row.digest.text())
            return otherDigest(row);
        if (auto same = checkBase(row, request.baseDigest); !same)
            return same;
        if (by.principal == row.publisher)
            return selfReview("acknowledge what it can newly do");
        auto done =
            store::ReviewMarkTable(connection)
                .acknowledge(by.scopeFingerprint, row.skill, row.digest, row.baseDigest, by.principal, m_clock.now());
        return done ? log(connection, by, audit::Operation::ProposalAcknowledge, row) : done;
    });
}

Result<std::vector<contract::ViewedFile>> Proposals::viewed(const auth::Identity& by, std::string_view id)
{
    return m_database.read([&](Connection& connection) -> Result<std::vector<contract::ViewedFile>> {
        auto row = requireProposal(connection, by.scopeFingerprint, id);
        if (!row)
            return forward(row);
        auto sides = readSides(connection, by.scopeFingerprint, *row);
        if (!sides)
            return forward(sides);
        auto marks = store::ReviewMarkTable(connection).viewed(by.scopeFingerprint, row->skill, by.principal);
        if (!marks)
            return forward(marks);
        std::vector<contract::ViewedFile> out;
        for (const store::ViewedRow& mark : *marks)
            if (mark.content == viewedContent(*sides, mark.path))
                out.push_back({mark.path, mark.viewedAt});
        return out;
    });
}

Result<void> Proposals::markViewed(const auth::Identity& by, std::string_view id, std::string_view path)
{
    return m_database.write([&](Connection& connection) -> Result<void> {
        auto row = requireProposal(connection, by.scopeFingerprint, id);
        if (!row)
            return forward(row);
        auto sides = readSides(connection, by.scopeFingerprint, *row);
        if (!sides)
            return forward(sides);
        const std::string content = viewedContent(*sides, path);
        if (content.empty())
            return fail(ErrorCode::NotFound, "the proposal has no file of this path");
        return store::ReviewMarkTable(connection)
            .putViewed(by.scopeFingerprint, row->skill, by.principal, {std::string(path), content, m_clock.now()});
    });
}

Result<void> Proposals::unmarkViewed(const auth::Identity& by, std::string_view id, std::string_view path)
{
    return m_database.write([&](Connection& connection) -> Result<void> {
        auto row = requireProposal(connection, by.scopeFingerprint, id);
        if (!row)
            return forward(row);
        return store::ReviewMarkTable(connection).removeViewed(by.scopeFingerprint, row->skill, by.principal, path);
    });
}

Result<Proposals::Promoted> Proposals::promote(const auth::Identity& by, std::string_view id,
                                               const contract::PromoteRequest& request,
                                               const std::optional<std::string>& ifMatch)
{
    const std::string_view scope = by.scopeFingerprint;
    auto promoted = m_database.write([&, now = m_clock.now()](Connection& connection) -> Result<contract::Skill> {
        auto row = requireOpen(connection, scope, id, ifMatch);
        if (!row)
            return forward(row);
        auto skill = registry::requireSkill(connection, scope, row->skill);
        if (!skill)
            return forward(skill);
        auto target = registry::requireRevision(connection, scope, *skill, row->revision, store::WithFiles::No);
        if (!target)
            return forward(target);
        if (auto done = review::promote(connection, m_checks, m_ledger, by, *skill, *target, request.reason, now);
            !done)
            return forward(done);
        return registry::makeSkill(*skill);
    });
    if (!promoted)
        return forward(promoted);
    auto closed = find(by, id);
    if (!closed)
        return forward(closed);
    return Promoted{std::move(*closed), std::move(*promoted)};
}

Result<contract::Proposal> Proposals::withdraw(const auth::Identity& by, std::string_view id, std::string_view reason,
                                               const std::optional<std::string>& ifMatch)
{
    const std::string_view scope = by.scopeFingerprint;
    return m_database.write([&, now = m_clock.now()](Connection& connection) -> Result<contract::Proposal> {
        auto row = requireOpen(connection, scope, id, ifMatch);
        if (!row)
            return forward(row);
        if (by.principal != row->publisher && !by.roles.contains(auth::Role::Reviewer))
            return fail(ErrorCode::PermissionDenied, "only its publisher or a reviewer may withdraw a proposal");
        auto skill = registry::requireSkill(connection, scope, row->skill);
        if (!skill)
            return forward(skill);
        auto target = registry::requireRevision(connection, scope, *skill, row->revision, store::WithFiles::No);
        if (!target)
            return forward(target);
        const contract::WithdrawRequest request{std::string(reason), false};
        if (auto done = review::withdraw(connection, m_ledger, by, *skill, *target, request, now); !done)
            return forward(done);
        return find(connection, scope, id);
    });
}

Result<contract::Proposal> Proposals::find(Connection& connection, std::string_view scope, std::string_view id) const
{
    auto row = requireProposal(connection, scope, id);
    return row ? view(connection, scope, *row) : Result<contract::Proposal>(forward(row));
}

} // namespace assay::review
