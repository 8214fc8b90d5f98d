// SPDX-License-Identifier: Apache-2.0
#include "server/registry/review/proposal_forms.h"

#include "server/core/ids.h"

#include <format>

namespace assay::review {

contract::Comment makeComment(const store::CommentRow& row)
{
    contract::Comment out;
    out.id = row.id;
    out.author = row.author;
    out.draft = row.draft;
    out.review = row.review;
    out.path = row.path;
    out.side = row.side;
    if (row.line)
        out.line = static_cast<std::uint64_t>(*row.line);
    out.fileSha256 = row.fileSha256;
    out.inReplyTo = row.inReplyTo;
    out.text = row.text;
    out.createdAt = row.createdAt;
    out.updatedAt = row.updatedAt;
    out.resolvedAt = row.resolvedAt;
    out.resolvedBy = row.resolvedBy;
    return out;
}

contract::Review makeReview(const store::ReviewRow& row)
{
    return {row.id, row.author, row.verdict, row.digest.text(), row.comments, row.createdAt, row.withdrawnAt};
}

Result<store::ProposalRow> requireProposal(store::Connection& connection, std::string_view scope, std::string_view id)
{
    auto row = isId(id, "prop_") ? store::ProposalTable(connection).find(scope, id)
                                 : Result<std::optional<store::ProposalRow>>(std::nullopt);
    if (!row)
        return forward(row);
    if (!*row)
        return fail(ErrorCode::NotFound, "there is no proposal of this id");
    return std::move(**row);
}

std::unexpected<Error> closedProposal(const store::ProposalRow& row)
{
    return std::unexpected(
        Error{ErrorCode::Conflict,
              std::format("the proposal is {} and takes nothing more; its approvals count for nothing else", row.state),
              {},
              "proposal_closed",
              {}});
}

std::unexpected<Error> otherDigest(const store::ProposalRow& row)
{
    return fail(ErrorCode::PreconditionFailed,
                std::format("the proposal is about {}, not about the digest that the request names; look at it again",
                            row.digest.text()));
}

Result<void> checkBase(const store::ProposalRow& row, const std::optional<std::string>& seen)
{
    const std::string base = row.baseDigest ? row.baseDigest->text() : std::string();
    if (!seen && !base.empty())
        return failAt("/base_digest", "say what the proposal was compared with: the digest of its base as you saw it");
    if (seen.value_or("") == base)
        return {};
    return fail(ErrorCode::PreconditionFailed,
                base.empty() ? "nothing is current any more, the proposal has no base now; look at it again"
                             : std::format("the proposal is compared with {} now, not with what the request names; "
                                           "look at it again",
                                           base));
}

std::unexpected<Error> selfReview(std::string_view what)
{
    return std::unexpected(
        Error{ErrorCode::PermissionDenied,
              std::format("the publisher of a revision cannot {}; someone else with the reviewer role must", what),
              {},
              "self_approval",
              {}});
}

} // namespace assay::review
