// SPDX-License-Identifier: Apache-2.0
#include "server/api/admission.h"

#include "server/api/content_type.h"
#include "server/core/text.h"

#include <algorithm>

namespace assay::api {

namespace {

std::optional<std::string_view> field(const RequestHead& head, std::string_view name)
{
    const auto found = head.headers.find(name);
    return found == head.headers.end() ? std::nullopt : std::optional<std::string_view>(found->second);
}

auth::IngressFields ingressFields(const RequestHead& head)
{
    return {field(head, "assay-scope"), field(head, "assay-principal"), field(head, "assay-roles")};
}

bool hasAny(const auth::IngressFields& fields) { return fields.scope || fields.principal || fields.roles; }

Result<auth::Identity> identify(auth::Authenticator& authenticator, const RequestHead& head)
{
    const auth::IngressFields fields = ingressFields(head);
    if (hasAny(fields))
        return auth::Authenticator::fromIngress(fields);
    return authenticator.fromBearer(head.header("authorization"));
}

bool isCleanText(std::string_view text) { return isUtf8(text) && !text.contains('\0'); }

Result<void> judgePath(const RequestHead& head)
{
    if (!std::ranges::all_of(head.segments, isCleanText))
        return fail(ErrorCode::InvalidArgument, "the path must be UTF-8 without U+0000, percent-encoded");
    return {};
}

Result<std::map<std::string, std::string, std::less<>>> judgeQuery(const Route& route, const RequestHead& head)
{
    std::map<std::string, std::string, std::less<>> out;
    for (const auto& [name, value] : head.query) {
        if (!isCleanText(name) || !isCleanText(value))
            return fail(ErrorCode::InvalidArgument, "the query must be UTF-8 without U+0000, percent-encoded");
        if (!std::ranges::contains(route.query, std::string_view(name)))
            return fail(ErrorCode::InvalidArgument,
                        "the query parameter \"" + name.substr(0, 64) + "\" is not known here");
        if (!out.emplace(name, value).second)
            return fail(ErrorCode::InvalidArgument, "the query parameter \"" + name + "\" stands there twice");
    }
    return out;
}

Result<Content> judgeContent(const Route& route, const RequestHead& head)
{
    const std::string_view contentType = head.header("content-type");
    const bool mayBeNone = route.body == BodyKind::None || route.body == BodyKind::OptionalJson;
    if (mayBeNone && !head.hasBody)
        return Content::None;
    if (route.body == BodyKind::Package && archiveKind(contentType))
        return Content::Archive;
    if (isJsonType(contentType, route.method))
        return Content::Json;
    const bool takesArchives = route.body == BodyKind::Package;
    return fail(ErrorCode::UnsupportedMedia,
                takesArchives ? "send application/json, application/zip, application/x-tar or application/gzip"
                              : "send application/json");
}

Result<std::optional<std::string>> judgeKey(const Route& route, const RequestHead& head)
{
    if (route.replay == Replay::No)
        return std::optional<std::string>{};
    return readIdempotencyKey(head);
}

/// The part of the judgement that comes after the role.
Result<void> judgeDetails(Admission& admission, const RequestHead& head)
{
    const Route& route = *admission.route;
    if (auto path = judgePath(head); !path)
        return forward(path);
    auto query = judgeQuery(route, head);
    if (!query)
        return forward(query);
    auto content = judgeContent(route, head);
    if (!content)
        return forward(content);
    auto key = judgeKey(route, head);
    if (!key)
        return forward(key);
    admission.query = std::move(*query);
    admission.content = *content;
    admission.key = std::move(*key);
    return {};
}

std::unexpected<Refusal> refused(const std::unexpected<Error>& error, std::string_view route = "/v1",
                                 std::string_view denied = {})
{
    return std::unexpected(Refusal{.error = error.error(), .route = route, .allow = {}, .denied = denied});
}

/// By what a client says of itself, nothing else: it is written down, never trusted.
auth::Surface surfaceOf(const RequestHead& head)
{
    const std::string_view agent = head.header("user-agent");
    const std::string_view product = agent.substr(0, agent.find_first_of("/ "));
    if (product == "assayctl")
        return auth::Surface::Cli;
    if (product == "assay")
        return auth::Surface::Window;
    return product == "assay-agent" ? auth::Surface::Agent : auth::Surface::Api;
}

std::unexpected<Refusal> refusedFor(const std::unexpected<Error>& error, const Router::Match& match, Method method,
                                    std::string_view denied, std::optional<auth::Identity> by)
{
    const std::string_view path = match.route ? match.route->path : "/v1";
    return std::unexpected(Refusal{error.error(), path, {}, denied, method, match.route, std::move(by)});
}

std::unexpected<Refusal> unknownRoute(const Router::Match& match)
{
    if (match.allow.empty())
        return refused(fail(ErrorCode::NotFound, "there is no such route; see /openapi.json"));
    return std::unexpected(
        Refusal{.error = fail(ErrorCode::MethodNotAllowed, "this resource takes " + match.allow).error(),
                .route = "/v1",
                .allow = match.allow,
                .denied = {}});
}

} // namespace

std::string_view fixedPart(std::string_view route)
{
    const std::string_view before = route.substr(0, route.find("/{"));
    return before.empty() ? "/" : before;
}

std::expected<Admission, Refusal> judge(const Router& router, auth::Authenticator& authenticator,
                                        const RequestHead& head)
{
    if (head.trust != Trust::TrustedIngress && hasAny(ingressFields(head)))
        return refused(fail(ErrorCode::InvalidArgument,
                            "Assay-Scope, Assay-Principal and Assay-Roles are taken on a trusted ingress only"),
                       "/v1", "scope_header");
    Router::Match match = router.find(head.method, head.segments);
    Admission admission{match.route, {}, std::move(match.parameters), {}, {}, Content::None};
    const bool isOpen = match.route && match.route->roles == auth::Roles();
    if (!isOpen) {
        auto identity = identify(authenticator, head);
        if (!identity) {
            auto refusal = refusedFor(forward(identity), match, head.method, "token", std::nullopt);
            refusal.error().route = "/v1"; // an unknown route must look the same
            return refusal;
        }
        admission.identity = std::move(*identity);
        admission.identity.surface = surfaceOf(head);
    }
    if (!match.route)
        return unknownRoute(match);
    if (!isOpen && !admission.identity.roles.intersects(match.route->roles))
        return refusedFor(fail(ErrorCode::PermissionDenied, "this needs another role than the caller has"), match,
                          head.method, "role", std::move(admission.identity));
    if (auto details = judgeDetails(admission, head); !details)
        return refused(forward(details), match.route->path);
    return admission;
}

} // namespace assay::api
