// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/api/request.h"
#include "server/api/service.h"
#include "server/auth/roles.h"

#include <span>

namespace assay::api {

/// What body a route takes, and so its limit and content types.
enum class BodyKind : std::uint8_t {
    None,         ///< none; an empty JSON object is tolerated
    Json,         ///< a small JSON object
    OptionalJson, ///< the same, or nothing
    Package,      ///< a package as JSON or as an archive
    PackageJson,
    Run, ///< JSON with input, standard input or files
};

/// Is the answer to an `Idempotency-Key` kept, and may it be stored as it is?
enum class Replay : std::uint8_t { No, Kept, Sealed };

using Handler = Result<Reply> (*)(const Services& services, Request& request);

/// One row of the route table. `path` is a template: "{name}" takes one segment, "{path...}" at the end takes all that
/// follow. No roles: open to everyone.
struct Route
{
    Method method;
    std::string_view path;
    auth::Roles roles;
    Handler handler;
    BodyKind body = BodyKind::None;
    Replay replay = Replay::No;
    std::span<const std::string_view> query = {};
};

/// Every route of the server, in the order of api.md. The strings live as long as the program.
std::span<const Route> routeTable();

/// "GET", "POST", ...
std::string_view methodName(Method method);

} // namespace assay::api
