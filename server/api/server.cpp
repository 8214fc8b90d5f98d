// SPDX-License-Identifier: Apache-2.0
#include "server/api/etag.h"
#include "server/api/handlers.h"
#include "server/api/replies.h"
#include "server/contract/codec.h"
#include "server/contract/openapi.h"

namespace assay::api {

Result<Reply> getHealth(const Services& services, Request&)
{
    return jsonReply(200, contract::toJson(services.health.report()));
}

Result<Reply> runHandshake(const Services& services, Request& request)
{
    if (auto empty = emptyBody(request); !empty)
        return forward(empty);
    auto health = services.health.handshake(&request.by);
    if (!health)
        return forward(health);
    return jsonReply(200, contract::toJson(*health));
}

Result<Reply> getServer(const Services& services, Request& request)
{
    return resourceReply(request, 200, contract::toJson(services.info));
}

Result<Reply> getLive(const Services&, Request&) { return jsonReply(200, {{"status", "live"}}); }

Result<Reply> getReady(const Services& services, Request&)
{
    auto ready = services.health.ready();
    if (!ready)
        return forward(ready);
    return jsonReply(200, {{"status", "ready"}});
}

Result<Reply> getOpenApi(const Services&, Request& request)
{
    const std::string_view document = contract::openApiJson();
    Reply reply = downloadReply(request, {.bytes = {document, nullptr},
                                          .tag = tagOfBody(document),
                                          .mediaType = "application/octet-stream",
                                          .fileName = "openapi.json",
                                          .keep = Keep::AskAgain});
    if (reply.status == 200)
        reply.headers.front().second = "application/json";
    return reply;
}

} // namespace assay::api
