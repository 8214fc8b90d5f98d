// SPDX-License-Identifier: Apache-2.0
#include "server/api/handlers.h"
#include "server/api/replies.h"
#include "server/contract/codec.h"

#include <array>

namespace assay::api {

namespace {

constexpr std::array<std::string_view, 5> kStates{"open", "approved", "promoted", "superseded", "withdrawn"};
constexpr std::size_t kMaxNameBytes = 64;
constexpr std::size_t kMaxPrincipalBytes = 256;

Result<contract::ProposalFilter> readFilter(const Request& request)
{
    auto state = queryChoice(request, "state", kStates);
    if (!state)
        return forward(state);
    auto skill = queryText(request, "skill", kMaxNameBytes);
    if (!skill)
        return forward(skill);
    auto publisher = queryText(request, "publisher", kMaxPrincipalBytes);
    if (!publisher)
        return forward(publisher);
    return contract::ProposalFilter{std::move(*state), std::move(*skill), std::move(*publisher)};
}

json::object summary(const contract::Proposal& proposal)
{
    return contract::toJson(proposal, contract::ProposalDetail::Summary);
}

Reply proposalReply(const Request& request, const contract::Proposal& proposal)
{
    return resourceReply(request, 200, contract::toJson(proposal, contract::ProposalDetail::Full), proposal.etag);
}

} // namespace

Result<Reply> listProposals(const Services& services, Request& request)
{
    const auto filter = readFilter(request);
    if (!filter)
        return std::unexpected(filter.error());
    const auto page = pageOf(request);
    if (!page)
        return std::unexpected(page.error());
    const auto proposals = services.desk.proposals().list(request.by, *filter, *page);
    if (!proposals)
        return std::unexpected(proposals.error());
    return jsonReply(200, contract::pageJson(*proposals, summary));
}

Result<Reply> getProposal(const Services& services, Request& request)
{
    const auto proposal = services.desk.proposals().find(request.by, request.parameter(0));
    if (!proposal)
        return std::unexpected(proposal.error());
    return proposalReply(request, *proposal);
}

Result<Reply> acknowledgeProposal(const Services& services, Request& request)
{
    const auto body = jsonBody(request);
    if (!body)
        return std::unexpected(body.error());
    const auto seen = contract::readAcknowledge(*body);
    if (!seen)
        return std::unexpected(seen.error());
    const auto match = ifMatch(request);
    if (!match)
        return std::unexpected(match.error());
    const auto proposal = services.desk.proposals().acknowledge(request.by, request.parameter(0), *seen, *match);
    if (!proposal)
        return std::unexpected(proposal.error());
    return proposalReply(request, *proposal);
}

Result<Reply> startTestRuns(const Services& services, Request& request)
{
    if (auto empty = emptyBody(request); !empty)
        return forward(empty);
    auto runs = services.sampleRuns.test(request.by, request.parameter(0));
    if (!runs)
        return forward(runs);
    return jsonReply(201, contract::pageJson(contract::Page<contract::SampleRun>{std::move(*runs), {}}));
}

Result<Reply> promoteProposal(const Services& services, Request& request)
{
    const auto body = optionalBody(request);
    if (!body)
        return std::unexpected(body.error());
    const auto promote = contract::readPromote(*body);
    if (!promote)
        return std::unexpected(promote.error());
    const auto match = ifMatch(request);
    if (!match)
        return std::unexpected(match.error());
    const auto promoted = services.desk.proposals().promote(request.by, request.parameter(0), *promote, *match);
    if (!promoted)
        return std::unexpected(promoted.error());
    return proposalReply(request, promoted->proposal);
}

Result<Reply> withdrawProposal(const Services& services, Request& request)
{
    const auto body = jsonBody(request);
    if (!body)
        return std::unexpected(body.error());
    const auto reason = contract::readReason(*body);
    if (!reason)
        return std::unexpected(reason.error());
    const auto match = ifMatch(request);
    if (!match)
        return std::unexpected(match.error());
    const auto proposal = services.desk.proposals().withdraw(request.by, request.parameter(0), *reason, *match);
    if (!proposal)
        return std::unexpected(proposal.error());
    return proposalReply(request, *proposal);
}

Result<Reply> listViewed(const Services& services, Request& request)
{
    auto files = services.desk.proposals().viewed(request.by, request.parameter(0));
    if (!files)
        return forward(files);
    return jsonReply(200, contract::pageJson(contract::Page<contract::ViewedFile>{std::move(*files), {}}));
}

Result<Reply> putViewed(const Services& services, Request& request)
{
    if (auto empty = emptyBody(request); !empty)
        return forward(empty);
    auto marked = services.desk.proposals().markViewed(request.by, request.parameter(0), request.parameter(1));
    if (!marked)
        return forward(marked);
    return noContent();
}

Result<Reply> deleteViewed(const Services& services, Request& request)
{
    auto unmarked = services.desk.proposals().unmarkViewed(request.by, request.parameter(0), request.parameter(1));
    if (!unmarked)
        return forward(unmarked);
    return noContent();
}

} // namespace assay::api
