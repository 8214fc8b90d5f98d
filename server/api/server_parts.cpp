// SPDX-License-Identifier: Apache-2.0
#include "server/api/server_parts.h"

#include "server/core/ids.h"
#include "server/core/random.h"
#include "server/sandbox/box.h"
#include "server/store/token_table.h"

#include <chrono>

namespace assay::api {

namespace {

/// Drops output: the result keeps what a handshake looks at.
class NoSink final : public sandbox::OutputSink
{
public:
    void onOutput(const sandbox::OutputChunk&) override {}
};

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

sandbox::BoxSpec smallBox(const sandbox::BaseRoot& base, const std::string& nonce)
{
    sandbox::BoxSpec spec;
    spec.id = "handshake-" + nonce;
    spec.scopeFingerprint = "sc_" + std::string(32, '0'); // no scope: nothing of anybody is in this box
    spec.runId = "handshake";
    spec.base = base;
    spec.limits.memoryBytes = 128ULL << 20;
    spec.limits.pids = 16;
    spec.limits.workspaceBytes = 8ULL << 20;
    spec.limits.tmpBytes = 8ULL << 20;
    return spec;
}

sandbox::Command echo(const std::string& nonce)
{
    sandbox::Command command;
    command.argv = {"/bin/cat"};
    command.stdinBytes = nonce;
    command.limits.wall = std::chrono::seconds(5);
    command.limits.outputBytes = 4096;
    return command;
}

Result<std::string> judge(const sandbox::CommandResult& result, const std::string& nonce)
{
    const bool exited = result.termination == sandbox::Termination::Exited && result.exitCode == 0;
    if (!exited || result.out.head + result.out.tail != nonce)
        return fail(ErrorCode::Unavailable, "a command in a box did not give the output it must give",
                    std::string(sandbox::terminationName(result.termination)));
    return "a command ran in a box and gave the output it must give";
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

Result<std::string> ServerParts::prove(const std::string& driver)
{
    auto found = m_boxes.driver(driver);
    if (!found)
        return forward(found);
    const std::string nonce = toHex(randomBytes(8));
    const sandbox::BoxSpec spec = smallBox(m_boxes.base(), nonce);
    auto handle = (*found)->create(spec);
    if (!handle)
        return forward(handle);
    auto box = sandbox::Box::open(std::move(*handle), spec);
    if (!box)
        return forward(box);
    NoSink sink;
    const auto result = (*box)->run(echo(nonce), sink, {});
    auto destroyed = (*box)->destroy();
    if (!result)
        return std::unexpected(result.error());
    if (!destroyed)
        return forward(destroyed);
    return judge(*result, nonce);
}

contract::PartHealth ServerParts::store()
{
    const auto read =
        m_database.read([](store::Connection& connection) { return store::TokenTable(connection).find("tok_health"); });
    if (!read)
        return unavailable("store", read.error());
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
