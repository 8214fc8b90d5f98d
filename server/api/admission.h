// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/api/router.h"

namespace assay::api {

/// What the body is, by the route and the content type.
enum class Content : std::uint8_t { None, Json, Archive };

/// A request that may be served: nothing but the token was looked up.
struct Admission
{
    const Route* route = nullptr;
    auth::Identity identity; ///< empty on open routes
    std::vector<std::string> parameters;
    std::map<std::string, std::string, std::less<>> query;
    std::optional<std::string> key; ///< `Idempotency-Key`, where the route keeps answers
    Content content = Content::None;
};

struct Refusal
{
    Error error;
    std::string_view route = "/v1"; ///< the route's template, when one was found
    std::string allow;              ///< with 405
    std::string_view denied;        ///< why access was denied, for the metrics: "token", "role" or "scope_header"
    Method method = Method::Get;
    const Route* matched = nullptr;     ///< when the path has this method
    std::optional<auth::Identity> by{}; ///< when it was the role that did not suffice
};

/// Judges a head in a fixed order, so that every answer tells no more than the one before it would: ingress fields on a
/// listener that is not trusted (400), who asks (401, on unknown routes too), the route (404, 405), the role (403),
/// then path, query, content type and idempotency key (400, 415). Thread-safe.
std::expected<Admission, Refusal> judge(const Router& router, auth::Authenticator& authenticator,
                                        const RequestHead& head);

/// A route's template up to its first parameter: "/v1/skills" for all of the skills. The `instance` of its problems.
std::string_view fixedPart(std::string_view route);

} // namespace assay::api
