// SPDX-License-Identifier: Apache-2.0
#include "server/api/server_parts.h"

#include "server/store/token_table.h"

#include <chrono>

namespace assay::api {

namespace {

std::string_view stateName(sandbox::DriverState state)
{
    switch (state) {
    case sandbox::DriverState::Ready:
        return "ready";
    case sandbox::DriverState::Disabled:
        return "disabled";
    case sandbox::DriverState::Unavailable:
        return "unavailable";
    }
    return "unavailable";
}

contract::PartHealth unavailable(std::string name, const Error& error)
{
    return {.name = std::move(name), .state = "unavailable", .reason = error.message};
}

} // namespace

contract::PartHealth ServerParts::probe(const std::string& driver)
{
    if (!m_executionEnabled)
        return {.name = driver,
                .state = "disabled",
                .reason = "execution is switched off on this server",
                .remedy = "the operator can switch it on in the settings"};
    auto found = m_boxes.driver(driver);
    if (!found)
        return unavailable(driver, found.error());
    const sandbox::DriverStatus status = (*found)->probe();
    return {.name = driver,
            .state = std::string(stateName(status.state)),
            .reason = status.reason,
            .remedy = status.remedy,
            .limits = status.hardLimits ? "hard" : "soft"};
}

Result<std::string> ServerParts::prove(const std::string& driver) { return m_runs.prove(driver); }

Result<void> ServerParts::record(const auth::Identity* by, const contract::PartHealth& part)
{
    const bool passed = part.lastHandshake && part.lastHandshake->passed;
    const auto decision = passed ? audit::Decision::Executed : audit::Decision::Refused;
    using enum audit::Operation;
    using enum audit::ResourceType;
    auto record = by ? audit::recordBy(*by, Handshake, decision, Driver, part.name)
                     : audit::recordByServer({}, Handshake, decision, Driver, part.name);
    // What an operator asks for is the server's matter; what a scope's runner asks for is the scope's.
    if (by && !by->roles.contains(auth::Role::Runner))
        record.scopeFingerprint.clear();
    if (!by)
        record.metadata.surface = auth::nameOf(auth::Surface::Handshake);
    if (!passed)
        record.metadata.reason = part.state;
    if (part.lastHandshake)
        record.metadata.wallMs = static_cast<std::int64_t>(part.lastHandshake->durationMs);
    const auto base = m_boxes.base();
    record.metadata.baseDigest = base.root.empty() ? "host" : base.digest;
    return m_ledger.record(record);
}

contract::PartHealth ServerParts::store()
{
    const auto read =
        m_database.read([](store::Connection& connection) { return store::TokenTable(connection).find("tok_health"); });
    if (!read)
        return unavailable("store", read.error());
    // The server goes on serving: an edited ledger is to be looked at, not to be a way to switch the server off.
    if (const std::string doubts = m_heads ? m_heads->doubts() : std::string(); !doubts.empty())
        return {.name = "store",
                .state = "ready",
                .reason = "the audit ledger is in doubt: " + doubts,
                .remedy = "assayctl audit verify; see docs/ledger.md"};
    return {.name = "store", .state = "ready", .reason = m_cachePlace};
}

contract::PartHealth ServerParts::base()
{
    const auto driver = m_boxes.driver({});
    if (!driver && driver.error().reason == "environment_unavailable")
        return unavailable("base", driver.error());
    const sandbox::BaseRoot base = m_boxes.base();
    if (base.root.empty())
        return {.name = "base",
                .state = "ready",
                .reason = "host, unpinned: boxes see the host's read-only system folders, so runs are not repeatable",
                .remedy = "build a pinned base: assayctl base build"};
    return {.name = "base", .state = "ready", .reason = base.digest};
}

contract::PartHealth ServerParts::gateway()
{
    return {.name = "gateway",
            .state = "disabled",
            .reason = "this version has no egress gateway: boxes have no network",
            .remedy = "leave egress at tier none"};
}

} // namespace assay::api
