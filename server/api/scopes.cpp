// SPDX-License-Identifier: Apache-2.0
#include "server/api/handlers.h"
#include "server/api/replies.h"
#include "server/contract/codec.h"

namespace assay::api {

Result<Reply> getOwnScope(const Services& services, Request& request)
{
    const auto settings = services.desk.scopes().find(request.by.scopeFingerprint);
    if (!settings)
        return std::unexpected(settings.error());
    return resourceReply(request, 200, contract::toJson(*settings), settings->etag);
}

Result<Reply> getScope(const Services& services, Request& request)
{
    const auto settings = services.desk.scopes().find(request.parameter(0));
    if (!settings)
        return std::unexpected(settings.error());
    return resourceReply(request, 200, contract::toJson(*settings), settings->etag);
}

Result<Reply> patchScope(const Services& services, Request& request)
{
    const auto body = jsonBody(request);
    if (!body)
        return std::unexpected(body.error());
    const auto patch = contract::readPatchScope(*body);
    if (!patch)
        return std::unexpected(patch.error());
    const auto match = ifMatch(request);
    if (!match)
        return std::unexpected(match.error());
    const auto settings = services.desk.scopes().patch(request.by, request.parameter(0), *patch, *match);
    if (!settings)
        return std::unexpected(settings.error());
    return resourceReply(request, 200, contract::toJson(*settings), settings->etag);
}

} // namespace assay::api
