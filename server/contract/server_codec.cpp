// SPDX-License-Identifier: Apache-2.0
#include "server/contract/codec.h"
#include "server/contract/json_parts.h"
#include "server/contract/object_reader.h"

#include <array>

namespace assay::contract {

namespace {

constexpr std::array<std::string_view, 5> kRoles{"viewer", "builder", "reviewer", "runner", "operator"};

json::value handshakeJson(const std::optional<Handshake>& handshake)
{
    if (!handshake)
        return nullptr;
    return json::object{{"passed", handshake->passed},
                        {"at", timeText(handshake->at)},
                        {"duration_ms", handshake->durationMs},
                        {"message", handshake->message}};
}

json::object partJson(const PartHealth& part)
{
    return {{"name", part.name},
            {"state", part.state},
            {"reason", textOrNull(part.reason)},
            {"remedy", textOrNull(part.remedy)},
            {"limits", textOrNull(part.limits)},
            {"last_handshake", handshakeJson(part.lastHandshake)}};
}

} // namespace

Result<CreateToken> readCreateToken(const json::value& body)
{
    CreateToken out;
    ObjectReader in(body);
    // The scope's own bounds are auth's to judge: one place for bodies, headers and the command line.
    in.text("name", out.name, {.maxBytes = 256})
        .textMap("scope", out.scope, {.maxItems = 1000, .item = {.nul = TextRule::Nul::Allowed}},
                 {.nul = TextRule::Nul::Allowed})
        .texts("roles", out.roles, {.maxItems = kRoles.size(), .item = {.oneOf = kRoles}})
        .text("principal", out.principal, {.minBytes = 1, .maxBytes = 256})
        .time("expires_at", out.expiresAt);
    in.require("scope").require("roles");
    return in.finish(std::move(out));
}

json::object toJson(const Token& token)
{
    return {{"id", token.id},
            {"name", token.name},
            {"scope_fingerprint", token.scopeFingerprint},
            {"principal", token.principal},
            {"roles", textArray(token.roles)},
            {"created_at", timeText(token.createdAt)},
            {"expires_at", timeOrNull(token.expiresAt)},
            {"revoked_at", timeOrNull(token.revokedAt)}};
}

json::object toJson(const CreatedToken& created)
{
    json::object out = toJson(created.token);
    out["secret"] = created.secret;
    return out;
}

json::object toJson(const Health& health)
{
    json::array drivers;
    for (const PartHealth& driver : health.drivers)
        drivers.push_back(partJson(driver));
    return {{"drivers", std::move(drivers)},
            {"gateway", partJson(health.gateway)},
            {"store", partJson(health.store)},
            {"base", partJson(health.base)}};
}

json::object toJson(const ServerInfo& info)
{
    json::object limits;
    for (const auto& [name, value] : info.limits)
        limits[name] = value;
    return {{"version", info.version},
            {"api_version", "v1"},
            {"features", textArray(info.features)},
            {"limits", std::move(limits)},
            {"listeners", textArray(info.listeners)}};
}

} // namespace assay::contract
