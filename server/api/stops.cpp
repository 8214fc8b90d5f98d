// SPDX-License-Identifier: Apache-2.0
#include "server/api/handlers.h"
#include "server/api/replies.h"
#include "server/contract/codec.h"

namespace assay::api {

Result<Reply> listStops(const Services& services, Request& request)
{
    const auto page = pageOf(request);
    if (!page)
        return std::unexpected(page.error());
    const auto stops = services.desk.stops().list(*page);
    if (!stops)
        return std::unexpected(stops.error());
    return jsonReply(200, contract::pageJson(*stops));
}

Result<Reply> createStop(const Services& services, Request& request)
{
    const auto body = jsonBody(request);
    if (!body)
        return std::unexpected(body.error());
    const auto asked = contract::readNewStop(*body);
    if (!asked)
        return std::unexpected(asked.error());
    const auto stop = services.desk.stops().add(request.by, *asked);
    if (!stop)
        return std::unexpected(stop.error());
    json::object out = contract::toJson(*stop);
    out["stopped_runs"] = services.runs.stopPinned({{}, {}, stop->digest});
    Reply reply = jsonReply(201, out);
    reply.headers.emplace_back("Location", "/v1/stops/" + stop->digest);
    return reply;
}

Result<Reply> getStop(const Services& services, Request& request)
{
    const auto stop = services.desk.stops().find(request.parameter(0));
    if (!stop)
        return std::unexpected(stop.error());
    return resourceReply(request, 200, contract::toJson(*stop));
}

Result<Reply> deleteStop(const Services& services, Request& request)
{
    auto removed = services.desk.stops().remove(request.by, request.parameter(0));
    if (!removed)
        return forward(removed);
    return noContent();
}

} // namespace assay::api
