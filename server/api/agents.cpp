// SPDX-License-Identifier: Apache-2.0
#include "server/api/etag.h"
#include "server/api/handlers.h"
#include "server/api/replies.h"
#include "server/contract/codec.h"

namespace assay::api {

namespace {

Reply savedReply(const Request& request, const registry::AgentService::Saved& saved)
{
    const contract::Agent& agent = saved.agent;
    Reply reply = resourceReply(request, saved.created ? 201 : 200, contract::toJson(agent), agent.etag);
    if (saved.created)
        reply.headers.emplace_back("Location", "/v1/agents/" + agent.definition.name);
    return reply;
}

Result<contract::AgentDefinition> definitionOf(const Request& request, std::string_view pathName)
{
    auto body = jsonBody(request);
    if (!body)
        return forward(body);
    return contract::readAgent(*body, pathName);
}

} // namespace

Result<Reply> listAgents(const Services& services, Request& request)
{
    const auto page = pageOf(request);
    if (!page)
        return std::unexpected(page.error());
    const auto agents = services.agents.list(request.by, *page);
    if (!agents)
        return std::unexpected(agents.error());
    return jsonReply(200, contract::pageJson(*agents));
}

Result<Reply> createAgent(const Services& services, Request& request)
{
    auto definition = definitionOf(request, {});
    if (!definition)
        return forward(definition);
    const auto saved = services.agents.save(request.by, std::move(*definition), true, std::nullopt);
    if (!saved)
        return std::unexpected(saved.error());
    return savedReply(request, *saved);
}

Result<Reply> putAgent(const Services& services, Request& request)
{
    auto definition = definitionOf(request, request.parameter(0));
    if (!definition)
        return forward(definition);
    const auto match = ifMatch(request);
    if (!match)
        return std::unexpected(match.error());
    const auto createOnly = readCreateOnly(request.head.header("if-none-match"));
    if (!createOnly)
        return std::unexpected(createOnly.error());
    auto saved = services.agents.save(request.by, std::move(*definition), *createOnly, *match);
    if (saved)
        return savedReply(request, *saved);
    if (*createOnly && saved.error().code == ErrorCode::Conflict)
        saved.error().code = ErrorCode::PreconditionFailed;
    return forward(saved);
}

Result<Reply> getAgent(const Services& services, Request& request)
{
    const auto agent = services.agents.find(request.by, request.parameter(0));
    if (!agent)
        return std::unexpected(agent.error());
    return resourceReply(request, 200, contract::toJson(*agent), agent->etag);
}

Result<Reply> deleteAgent(const Services& services, Request& request)
{
    const auto match = ifMatch(request);
    if (!match)
        return std::unexpected(match.error());
    auto removed = services.agents.remove(request.by, request.parameter(0), *match);
    if (!removed)
        return forward(removed);
    return noContent();
}

Result<Reply> listAgentRevisions(const Services& services, Request& request)
{
    const auto page = pageOf(request);
    if (!page)
        return std::unexpected(page.error());
    const auto revisions = services.agents.revisions(request.by, request.parameter(0), *page);
    if (!revisions)
        return std::unexpected(revisions.error());
    return jsonReply(200, contract::pageJson(*revisions));
}

} // namespace assay::api
