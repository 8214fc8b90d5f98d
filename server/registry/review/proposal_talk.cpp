// SPDX-License-Identifier: Apache-2.0
// The parts of Proposals about comments and verdicts.
#include "server/core/ids.h"
#include "server/registry/review/judgement.h"
#include "server/registry/review/proposal_forms.h"
#include "server/registry/review/proposals.h"
#include "server/store/page_token.h"
#include "server/store/proposal_review_table.h"

#include <algorithm>
#include <format>

namespace assay::review {

using store::CommentRow;
using store::Connection;
using store::ProposalCommentTable;
using store::ProposalReviewTable;
using store::ProposalRow;

namespace {

std::unexpected<Error> noComment() { return fail(ErrorCode::NotFound, "the proposal has no such comment"); }

/// A reply belongs to the thread's first comment, whatever comment of it was named.
Result<void> joinThread(Connection& connection, std::string_view scope, const ProposalRow& proposal, CommentRow& row)
{
    if (row.inReplyTo.empty())
        return {};
    auto parent = ProposalCommentTable(connection).find(scope, proposal.id, row.inReplyTo);
    if (!parent)
        return forward(parent);
    if (!*parent || (*parent)->draft)
        return failAt("/in_reply_to", "the proposal has no such comment to reply to");
    const CommentRow& first = **parent;
    row.inReplyTo = first.inReplyTo.empty() ? first.id : first.inReplyTo;
    row.path = first.path;
    row.side = first.side;
    row.line = first.line;
    row.fileSha256 = first.fileSha256;
    return {};
}

Result<void> countAgain(Connection& connection, std::string_view scope, ProposalRow& row)
{
    auto counts = ProposalCommentTable(connection).counts(scope, row.id);
    if (!counts)
        return forward(counts);
    if (counts->published > Proposals::kMaxComments)
        return fail(ErrorCode::Conflict,
                    std::format("a proposal holds {} comments, and no more", Proposals::kMaxComments));
    row.comments = counts->published;
    row.unresolved = counts->unresolved;
    return {};
}

Result<void> countVerdicts(Connection& connection, std::string_view scope, ProposalRow& row)
{
    auto standing = ProposalReviewTable(connection).standing(scope, row.id);
    if (!standing)
        return forward(standing);
    row.approvals = static_cast<std::uint64_t>(std::ranges::count(*standing, "approve", &store::ReviewRow::verdict));
    row.changeRequests = standing->size() - row.approvals;
    return {};
}

Result<CommentRow> ownDraft(Connection& connection, const auth::Identity& by, const ProposalRow& proposal,
                            std::string_view id)
{
    auto row = ProposalCommentTable(connection).find(by.scopeFingerprint, proposal.id, id);
    if (!row)
        return forward(row);
    if (!*row || !(*row)->draft || (*row)->author != by.principal)
        return noComment();
    return std::move(**row);
}

Result<void> checkVerdict(const auth::Identity& by, const contract::NewReview& review)
{
    if (review.verdict == "comment" || by.roles.contains(auth::Role::Reviewer))
        return {};
    return fail(ErrorCode::PermissionDenied, "a verdict needs the role reviewer; a builder may comment");
}

} // namespace

Result<contract::Page<contract::Comment>> Proposals::comments(const auth::Identity& by, std::string_view id,
                                                              const contract::PageRequest& page)
{
    const std::string_view scope = by.scopeFingerprint;
    const store::ListIdentity identity{"comments", scope, {id}};
    auto cursor = store::readPageToken(identity, page.token);
    if (!cursor)
        return forward(cursor);
    return m_database.read([&](Connection& connection) -> Result<contract::Page<contract::Comment>> {
        if (auto row = requireProposal(connection, scope, id); !row)
            return forward(row);
        auto rows = ProposalCommentTable(connection).list(scope, id, by.principal, *cursor, page.size + 1);
        if (!rows)
            return forward(rows);
        contract::Page<contract::Comment> out;
        if (rows->size() > page.size) {
            rows->pop_back();
            out.nextPageToken = store::makePageToken(identity, rows->back().id);
        }
        for (const CommentRow& row : *rows)
            out.items.push_back(makeComment(row));
        return out;
    });
}

Result<void> Proposals::add(Connection& connection, const auth::Identity& by, ProposalRow& proposal, CommentRow& row,
                            Timestamp now) const
{
    row.id = newId("cmt_", now);
    row.author = by.principal;
    row.createdAt = now;
    row.updatedAt = now;
    if (auto joined = joinThread(connection, by.scopeFingerprint, proposal, row); !joined)
        return joined;
    return ProposalCommentTable(connection).insert(by.scopeFingerprint, proposal.id, row);
}

Result<contract::Comment> Proposals::comment(const auth::Identity& by, std::string_view id,
                                             contract::NewComment comment, const std::optional<std::string>& ifMatch)
{
    const bool isDraft = comment.draft;
    auto rows = anchored(by, id, {std::move(comment)}, {});
    if (!rows)
        return forward(rows);
    CommentRow& row = rows->front();
    row.draft = isDraft;
    const auto now = m_clock.now();
    if (!isDraft) {
        auto done = change(by, id, ifMatch, [&](Connection& connection, ProposalRow& proposal) -> Result<void> {
            auto added = add(connection, by, proposal, row, now);
            return added ? countAgain(connection, by.scopeFingerprint, proposal) : added;
        });
        return done ? makeComment(row) : Result<contract::Comment>(forward(done));
    }
    // A draft is its author's alone: it changes nothing that others see, the ETag neither.
    return m_database.write([&](Connection& connection) -> Result<contract::Comment> {
        auto proposal = requireOpen(connection, by.scopeFingerprint, id, ifMatch);
        if (!proposal)
            return forward(proposal);
        auto drafts = ProposalCommentTable(connection).drafts(by.scopeFingerprint, id, by.principal);
        if (!drafts)
            return forward(drafts);
        if (drafts->size() >= kMaxDrafts)
            return fail(
                ErrorCode::Conflict,
                std::format("you have {} drafts here, and no more are kept; publish or delete some", kMaxDrafts));
        if (auto added = add(connection, by, *proposal, row, now); !added)
            return forward(added);
        return makeComment(row);
    });
}

Result<std::vector<CommentRow>> Proposals::anchored(const auth::Identity& by, std::string_view id,
                                                    const std::vector<contract::NewComment>& comments,
                                                    std::string_view pointer)
{
    auto proposal = m_database.read(
        [&](Connection& connection) { return requireOpen(connection, by.scopeFingerprint, id, std::nullopt); });
    if (!proposal)
        return forward(proposal);
    return m_anchors.anchor(by.scopeFingerprint, *proposal, comments, pointer);
}

Result<contract::Comment> Proposals::editDraft(const auth::Identity& by, std::string_view id, std::string_view comment,
                                               std::string text)
{
    return m_database.write([&](Connection& connection) -> Result<contract::Comment> {
        auto proposal = requireOpen(connection, by.scopeFingerprint, id, std::nullopt);
        if (!proposal)
            return forward(proposal);
        auto row = ownDraft(connection, by, *proposal, comment);
        if (!row)
            return forward(row);
        row->text = std::move(text);
        row->updatedAt = m_clock.now();
        if (auto saved = ProposalCommentTable(connection).update(by.scopeFingerprint, id, *row); !saved)
            return forward(saved);
        return makeComment(*row);
    });
}

Result<void> Proposals::removeDraft(const auth::Identity& by, std::string_view id, std::string_view comment)
{
    return m_database.write([&](Connection& connection) -> Result<void> {
        auto proposal = requireProposal(connection, by.scopeFingerprint, id);
        if (!proposal)
            return forward(proposal);
        if (auto row = ownDraft(connection, by, *proposal, comment); !row)
            return forward(row);
        return ProposalCommentTable(connection).remove(by.scopeFingerprint, id, comment);
    });
}

Result<contract::Proposal> Proposals::resolve(const auth::Identity& by, std::string_view id,
                                              const contract::ResolveThread& thread,
                                              const std::optional<std::string>& ifMatch)
{
    const std::string_view scope = by.scopeFingerprint;
    return change(by, id, ifMatch, [&](Connection& connection, ProposalRow& proposal) -> Result<void> {
        ProposalCommentTable table(connection);
        auto row = table.find(scope, id, thread.comment);
        if (row && *row && !(*row)->inReplyTo.empty())
            row = table.find(scope, id, std::string((*row)->inReplyTo));
        if (!row)
            return forward(row);
        if (!*row || (*row)->draft)
            return noComment();
        (*row)->resolvedAt = thread.resolved ? std::optional(m_clock.now()) : std::nullopt;
        (*row)->resolvedBy = thread.resolved ? by.principal : std::string();
        if (auto saved = table.update(scope, id, **row); !saved)
            return saved;
        return countAgain(connection, scope, proposal);
    });
}

Result<contract::Review> Proposals::addReview(Connection& connection, const auth::Identity& by, ProposalRow& row,
                                              const contract::NewReview& review, std::vector<CommentRow> comments,
                                              Timestamp now) const
{
    const std::string_view scope = by.scopeFingerprint;
    ProposalReviewTable table(connection);
    auto earlier = table.list(scope, row.id, kMaxReviews);
    if (!earlier)
        return forward(earlier);
    if (earlier->size() >= kMaxReviews)
        return fail(ErrorCode::Conflict, std::format("a proposal holds {} reviews, and no more", kMaxReviews));
    store::ReviewRow added{newId("rvw_", now), by.principal, review.verdict, row.digest, 0, now, {}};
    ProposalCommentTable talk(connection);
    auto drafts = talk.drafts(scope, row.id, by.principal);
    if (!drafts)
        return forward(drafts);
    for (CommentRow& draft : *drafts) {
        draft.draft = false;
        draft.review = added.id;
        draft.updatedAt = now;
        if (auto saved = talk.update(scope, row.id, draft); !saved)
            return forward(saved);
    }
    for (CommentRow& comment : comments) {
        comment.review = added.id;
        if (auto saved = add(connection, by, row, comment, now); !saved)
            return forward(saved);
    }
    added.comments = drafts->size() + comments.size();
    auto done = table.insert(scope, row.id, added);
    if (done)
        done = countAgain(connection, scope, row);
    if (done)
        done = countVerdicts(connection, scope, row);
    if (done && review.verdict != "comment")
        done = log(connection, by,
                   review.verdict == "approve" ? audit::Operation::ProposalApprove
                                               : audit::Operation::ProposalRequestChanges,
                   row);
    if (!done)
        return forward(done);
    return makeReview(added);
}

Result<Proposals::Reviewed> Proposals::review(const auth::Identity& by, std::string_view id, contract::NewReview review,
                                              const std::optional<std::string>& ifMatch)
{
    if (auto allowed = checkVerdict(by, review); !allowed)
        return forward(allowed);
    auto rows = anchored(by, id, review.comments, "/comments");
    if (!rows)
        return forward(rows);
    contract::Review added;
    auto proposal = change(by, id, ifMatch, [&](Connection& connection, ProposalRow& row) -> Result<void> {
        if (!review.digest.empty() && review.digest != row.digest.text())
            return otherDigest(row);
        if (review.verdict != "comment" && by.principal == row.publisher)
            return selfReview("approve it or ask for changes");
        auto done = addReview(connection, by, row, review, *rows, m_clock.now());
        if (!done)
            return forward(done);
        added = std::move(*done);
        return {};
    });
    if (!proposal)
        return forward(proposal);
    return Reviewed{std::move(added), std::move(*proposal)};
}

Result<std::vector<contract::Review>> Proposals::reviews(const auth::Identity& by, std::string_view id)
{
    return m_database.read([&](Connection& connection) -> Result<std::vector<contract::Review>> {
        if (auto row = requireProposal(connection, by.scopeFingerprint, id); !row)
            return forward(row);
        auto rows = ProposalReviewTable(connection).list(by.scopeFingerprint, id, kMaxReviews);
        if (!rows)
            return forward(rows);
        std::vector<contract::Review> out;
        for (const store::ReviewRow& row : *rows)
            out.push_back(makeReview(row));
        return out;
    });
}

Result<contract::Proposal> Proposals::withdrawVerdict(const auth::Identity& by, std::string_view id,
                                                      const std::optional<std::string>& ifMatch)
{
    return change(by, id, ifMatch, [&](Connection& connection, ProposalRow& row) -> Result<void> {
        auto count = ProposalReviewTable(connection).withdraw(by.scopeFingerprint, id, by.principal, m_clock.now());
        if (!count)
            return forward(count);
        if (*count == 0)
            return fail(ErrorCode::NotFound, "no verdict of yours stands in this proposal");
        auto counted = countVerdicts(connection, by.scopeFingerprint, row);
        return counted ? log(connection, by, audit::Operation::ProposalRetract, row) : counted;
    });
}

} // namespace assay::review
