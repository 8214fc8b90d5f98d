// SPDX-License-Identifier: Apache-2.0
#include "server/api/handlers.h"
#include "server/api/replies.h"
#include "server/contract/codec.h"

namespace assay::api {

Result<Reply> listComments(const Services& services, Request& request)
{
    const auto page = pageOf(request);
    if (!page)
        return std::unexpected(page.error());
    const auto comments = services.desk.proposals().comments(request.by, request.parameter(0), *page);
    if (!comments)
        return std::unexpected(comments.error());
    return jsonReply(200, contract::pageJson(*comments));
}

Result<Reply> createComment(const Services& services, Request& request)
{
    const auto body = jsonBody(request);
    if (!body)
        return std::unexpected(body.error());
    auto comment = contract::readNewComment(*body);
    if (!comment)
        return forward(comment);
    const auto match = ifMatch(request);
    if (!match)
        return std::unexpected(match.error());
    const auto created =
        services.desk.proposals().comment(request.by, request.parameter(0), std::move(*comment), *match);
    if (!created)
        return std::unexpected(created.error());
    return jsonReply(201, contract::toJson(*created));
}

Result<Reply> patchComment(const Services& services, Request& request)
{
    const auto body = jsonBody(request);
    if (!body)
        return std::unexpected(body.error());
    auto text = contract::readCommentText(*body);
    if (!text)
        return forward(text);
    const auto edited =
        services.desk.proposals().editDraft(request.by, request.parameter(0), request.parameter(1), std::move(*text));
    if (!edited)
        return std::unexpected(edited.error());
    return jsonReply(200, contract::toJson(*edited));
}

Result<Reply> deleteComment(const Services& services, Request& request)
{
    auto removed = services.desk.proposals().removeDraft(request.by, request.parameter(0), request.parameter(1));
    if (!removed)
        return forward(removed);
    return noContent();
}

Result<Reply> listReviews(const Services& services, Request& request)
{
    auto reviews = services.desk.proposals().reviews(request.by, request.parameter(0));
    if (!reviews)
        return forward(reviews);
    return jsonReply(200, contract::pageJson(contract::Page<contract::Review>{std::move(*reviews), {}}));
}

Result<Reply> createReview(const Services& services, Request& request)
{
    const auto body = jsonBody(request);
    if (!body)
        return std::unexpected(body.error());
    auto review = contract::readNewReview(*body);
    if (!review)
        return forward(review);
    const auto match = ifMatch(request);
    if (!match)
        return std::unexpected(match.error());
    const auto reviewed =
        services.desk.proposals().review(request.by, request.parameter(0), std::move(*review), *match);
    if (!reviewed)
        return std::unexpected(reviewed.error());
    json::object out = contract::toJson(reviewed->review);
    out["proposal"] = contract::toJson(reviewed->proposal, contract::ProposalDetail::Full);
    // The tag is the proposal's: what follows is asked of it.
    return resourceReply(request, 201, out, reviewed->proposal.etag);
}

Result<Reply> deleteVerdict(const Services& services, Request& request)
{
    const auto match = ifMatch(request);
    if (!match)
        return std::unexpected(match.error());
    const auto proposal = services.desk.proposals().withdrawVerdict(request.by, request.parameter(0), *match);
    if (!proposal)
        return std::unexpected(proposal.error());
    return resourceReply(request, 200, contract::toJson(*proposal, contract::ProposalDetail::Full), proposal->etag);
}

Result<Reply> resolveThread(const Services& services, Request& request)
{
    const auto body = jsonBody(request);
    if (!body)
        return std::unexpected(body.error());
    const auto thread = contract::readResolve(*body);
    if (!thread)
        return std::unexpected(thread.error());
    const auto match = ifMatch(request);
    if (!match)
        return std::unexpected(match.error());
    const auto proposal = services.desk.proposals().resolve(request.by, request.parameter(0), *thread, *match);
    if (!proposal)
        return std::unexpected(proposal.error());
    return resourceReply(request, 200, contract::toJson(*proposal, contract::ProposalDetail::Full), proposal->etag);
}

} // namespace assay::api
