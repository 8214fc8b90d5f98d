// SPDX-License-Identifier: Apache-2.0
#include "server/api/etag.h"
#include "server/api/handlers.h"
#include "server/api/replies.h"
#include "server/contract/codec.h"

namespace assay::api {

Result<Reply> listSamples(const Services& services, Request& request)
{
    auto samples = services.desk.samples().list(request.by, request.parameter(0));
    if (!samples)
        return forward(samples);
    return jsonReply(200, contract::pageJson(contract::Page<contract::Sample>{std::move(*samples), {}}));
}

Result<Reply> getSample(const Services& services, Request& request)
{
    const auto sample = services.desk.samples().find(request.by, request.parameter(0), request.parameter(1));
    if (!sample)
        return std::unexpected(sample.error());
    return resourceReply(request, 200, contract::toJson(*sample), sample->etag);
}

Result<Reply> putSample(const Services& services, Request& request)
{
    const auto body = jsonBody(request);
    if (!body)
        return std::unexpected(body.error());
    const auto sample = contract::readPutSample(*body);
    if (!sample)
        return std::unexpected(sample.error());
    const auto match = ifMatch(request);
    if (!match)
        return std::unexpected(match.error());
    const auto createOnly = readCreateOnly(request.head.header("if-none-match"));
    if (!createOnly)
        return std::unexpected(createOnly.error());
    const auto saved = services.desk.samples().put(request.by, request.parameter(0), request.parameter(1), *sample,
                                                   *createOnly, *match);
    if (!saved)
        return std::unexpected(saved.error());
    return resourceReply(request, saved->created ? 201 : 200, contract::toJson(saved->sample), saved->sample.etag);
}

Result<Reply> deleteSample(const Services& services, Request& request)
{
    const auto match = ifMatch(request);
    if (!match)
        return std::unexpected(match.error());
    auto removed = services.desk.samples().remove(request.by, request.parameter(0), request.parameter(1), *match);
    if (!removed)
        return forward(removed);
    return noContent();
}

Result<Reply> createComparison(const Services& services, Request& request)
{
    const auto body = jsonBody(request);
    if (!body)
        return std::unexpected(body.error());
    const auto asked = contract::readNewComparison(*body);
    if (!asked)
        return std::unexpected(asked.error());
    const auto comparison = services.sampleRuns.compare(request.by, request.parameter(0), *asked);
    if (!comparison)
        return std::unexpected(comparison.error());
    Reply reply = resourceReply(request, 201, contract::toJson(*comparison));
    reply.headers.emplace_back("Location", "/v1/skills/" + request.parameter(0) + "/comparisons/" + comparison->id);
    return reply;
}

Result<Reply> getComparison(const Services& services, Request& request)
{
    const auto comparison = services.sampleRuns.comparison(request.by, request.parameter(0), request.parameter(1));
    if (!comparison)
        return std::unexpected(comparison.error());
    return resourceReply(request, 200, contract::toJson(*comparison));
}

} // namespace assay::api
