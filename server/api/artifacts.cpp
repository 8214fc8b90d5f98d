// SPDX-License-Identifier: Apache-2.0
#include "server/api/handlers.h"
#include "server/api/replies.h"
#include "server/contract/codec.h"

namespace assay::api {

Result<Reply> listArtifacts(const Services& services, Request& request)
{
    const auto page = pageOf(request);
    if (!page)
        return std::unexpected(page.error());
    const auto artifacts = services.runs.artifacts(request.by, request.parameter(0), *page);
    if (!artifacts)
        return std::unexpected(artifacts.error());
    return jsonReply(200, contract::pageJson(*artifacts));
}

Result<Reply> getArtifact(const Services& services, Request& request)
{
    const auto artifact = services.runs.artifact(request.by, request.parameter(0));
    if (!artifact)
        return std::unexpected(artifact.error());
    return resourceReply(request, 200, contract::toJson(*artifact));
}

Result<Reply> getArtifactContent(const Services& services, Request& request)
{
    auto content = services.runs.artifactContent(request.by, request.parameter(0));
    if (!content)
        return forward(content);
    const contract::Artifact& artifact = content->artifact;
    return downloadReply(request, {.bytes = {content->bytes.bytes(), content->bytes.storage()},
                                   .tag = artifact.sha256,
                                   .mediaType = artifact.mediaType,
                                   .fileName = artifact.path.substr(artifact.path.rfind('/') + 1),
                                   .keep = Keep::Forever});
}

} // namespace assay::api
