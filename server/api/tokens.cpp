// SPDX-License-Identifier: Apache-2.0
#include "server/api/handlers.h"
#include "server/api/replies.h"
#include "server/contract/codec.h"

namespace assay::api {

Result<Reply> listTokens(const Services& services, Request& request)
{
    const auto page = pageOf(request);
    if (!page)
        return std::unexpected(page.error());
    const auto tokens = services.tokens.list(*page);
    if (!tokens)
        return std::unexpected(tokens.error());
    return jsonReply(200, contract::pageJson(*tokens));
}

Result<Reply> createToken(const Services& services, Request& request)
{
    const auto body = jsonBody(request);
    if (!body)
        return std::unexpected(body.error());
    const auto create = contract::readCreateToken(*body);
    if (!create)
        return std::unexpected(create.error());
    const auto created = services.tokens.create(*create, request.by);
    if (!created)
        return std::unexpected(created.error());
    Reply reply = jsonReply(201, contract::toJson(*created));
    reply.headers.emplace_back("Location", "/v1/tokens/" + created->token.id);
    return reply;
}

Result<Reply> getToken(const Services& services, Request& request)
{
    const auto token = services.tokens.find(request.parameter(0));
    if (!token)
        return std::unexpected(token.error());
    return resourceReply(request, 200, contract::toJson(*token));
}

Result<Reply> deleteToken(const Services& services, Request& request)
{
    auto revoked = services.tokens.revoke(request.parameter(0), request.by);
    if (!revoked)
        return forward(revoked);
    return noContent();
}

} // namespace assay::api
