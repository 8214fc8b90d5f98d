// SPDX-License-Identifier: Apache-2.0
#include "server/api/audited.h"

#include "server/core/json.h"

#include <algorithm>

namespace assay::api {

namespace {

using audit::Operation;
using audit::ResourceType;

struct Audited
{
    Method method;
    std::string_view path;
    Operation operation;
    ResourceType type; ///< what the path names
};

constexpr Audited kAudited[] = {
    {Method::Post, "/v1/skills", Operation::SkillPublish, ResourceType::Skill},
    {Method::Put, "/v1/skills/{name}", Operation::SkillPublish, ResourceType::Skill},
    {Method::Patch, "/v1/skills/{name}", Operation::SkillPatch, ResourceType::Skill},
    {Method::Delete, "/v1/skills/{name}", Operation::SkillDelete, ResourceType::Skill},
    {Method::Post, "/v1/skills/{name}/revisions/{rev}/promote", Operation::RevisionPromote, ResourceType::Revision},
    {Method::Post, "/v1/skills/{name}/revisions/{rev}/withdraw", Operation::RevisionWithdraw, ResourceType::Revision},
    {Method::Post, "/v1/proposals/{id}/reviews", Operation::ProposalReview, ResourceType::Proposal},
    {Method::Post, "/v1/proposals/{id}/promote", Operation::RevisionPromote, ResourceType::Proposal},
    {Method::Post, "/v1/proposals/{id}/withdraw", Operation::RevisionWithdraw, ResourceType::Proposal},
    {Method::Post, "/v1/proposals/{id}/acknowledge", Operation::ProposalAcknowledge, ResourceType::Proposal},
    {Method::Delete, "/v1/proposals/{id}/verdict", Operation::ProposalRetract, ResourceType::Proposal},
    {Method::Patch, "/v1/scopes/{fingerprint}", Operation::ScopeConfigure, ResourceType::Server},
    {Method::Post, "/v1/stops", Operation::ContentStop, ResourceType::Server},
    {Method::Delete, "/v1/stops/{digest}", Operation::ContentResume, ResourceType::Server},
    {Method::Post, "/v1/agents", Operation::AgentCreate, ResourceType::Agent},
    {Method::Put, "/v1/agents/{name}", Operation::AgentReplace, ResourceType::Agent},
    {Method::Delete, "/v1/agents/{name}", Operation::AgentDelete, ResourceType::Agent},
    {Method::Post, "/v1/runs", Operation::RunStart, ResourceType::Run},
    {Method::Post, "/v1/runs/{id}/commands", Operation::CommandExecute, ResourceType::Run},
    {Method::Post, "/v1/runs/{id}/cancel", Operation::RunCancel, ResourceType::Run},
    {Method::Post, "/v1/tokens", Operation::TokenCreate, ResourceType::Token},
    {Method::Delete, "/v1/tokens/{id}", Operation::TokenRevoke, ResourceType::Token},
    {Method::Post, "/v1/health/handshake", Operation::Handshake, ResourceType::Server},
    {Method::Post, "/v1/collections", Operation::CollectionRun, ResourceType::Server},
};

const Audited* auditedOf(const Route& route)
{
    const auto* found = std::ranges::find_if(
        kAudited, [&](const Audited& row) { return row.method == route.method && row.path == route.path; });
    return found == std::end(kAudited) ? nullptr : found;
}

std::string routeName(Method method, std::string_view path)
{
    return std::string(methodName(method)) + ":" + std::string(path);
}

std::string resourceOf(const Audited& row, const std::vector<std::string>& parameters)
{
    if (parameters.empty() || row.type == ResourceType::Server)
        return {};
    if (row.type == ResourceType::Revision && parameters.size() > 1)
        return audit::revisionResource(parameters[0], parameters[1]);
    return parameters[0];
}

/// Which decision a review would have been; the neutral operation when its body does not say.
Operation reviewOperation(const Body& body)
{
    const auto form = parseJson(body.bytes);
    const json::object* members = form ? form->if_object() : nullptr;
    const json::value* verdict = members ? members->if_contains("verdict") : nullptr;
    if (!verdict || !verdict->is_string())
        return Operation::ProposalReview;
    if (verdict->get_string() == "approve")
        return Operation::ProposalApprove;
    return verdict->get_string() == "request_changes" ? Operation::ProposalRequestChanges : Operation::ProposalReview;
}

bool isDecision(ErrorCode code)
{
    switch (code) {
    case ErrorCode::PermissionDenied:
    case ErrorCode::Refused:
    case ErrorCode::Conflict:
    case ErrorCode::PreconditionFailed:
    case ErrorCode::PreconditionRequired:
    case ErrorCode::InvalidPackage:
        return true;
    default:
        return false;
    }
}

} // namespace

std::optional<Operation> operationOf(const Route& route)
{
    const Audited* row = auditedOf(route);
    return row ? std::optional(row->operation) : std::nullopt;
}

std::optional<audit::Record> refusedAdmission(const Refusal& refusal)
{
    const std::string route = routeName(refusal.method, refusal.route);
    if (refusal.error.code == ErrorCode::Unauthenticated) {
        audit::Record out{.actorType = audit::ActorType::Anonymous,
                          .authSource = audit::AuthSource::None,
                          .resourceType = ResourceType::Route,
                          .resource = route,
                          .operation = Operation::RequestAuthenticate,
                          .decision = audit::Decision::Refused};
        out.metadata.surface = auth::nameOf(auth::Surface::Api);
        out.metadata.reason = "unauthenticated";
        return out;
    }
    if (refusal.error.code != ErrorCode::PermissionDenied || !refusal.by)
        return std::nullopt;
    const auto operation = refusal.matched ? operationOf(*refusal.matched) : std::nullopt;
    auto out = audit::recordBy(*refusal.by, operation.value_or(Operation::RequestAuthorize), audit::Decision::Refused,
                               ResourceType::Route, route);
    out.metadata.reason = "role";
    return out;
}

std::optional<audit::Record> refusedRequest(const Route& route, const Request& request, const Error& error)
{
    const Audited* row = auditedOf(route);
    if (!row || !isDecision(error.code))
        return std::nullopt;
    if (row->operation == Operation::RunStart && error.code == ErrorCode::Refused)
        return std::nullopt;
    const auto operation = row->operation == Operation::ProposalReview ? reviewOperation(request.body) : row->operation;
    auto out = audit::recordBy(request.by, operation, audit::Decision::Refused, row->type,
                               resourceOf(*row, request.parameters));
    out.metadata.reason = error.reason.empty() ? std::string(traits(error.code).code) : error.reason;
    if (row->type == ResourceType::Run && !request.parameters.empty())
        out.run = request.parameters[0];
    return out;
}

} // namespace assay::api
