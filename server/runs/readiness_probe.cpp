// SPDX-License-Identifier: Apache-2.0
#include "server/runs/readiness_probe.h"

#include "server/core/digest.h"
#include "server/core/random.h"

namespace assay::runs {

namespace {

constexpr std::string_view kRun = "handshake";

/// Drops output: the result keeps what is looked at.
class NoSink final : public sandbox::OutputSink
{
public:
    void onOutput(const sandbox::OutputChunk&) override {}
};

sandbox::BoxSpec smallBox(const ExecutionSession& session, const sandbox::BaseRoot& base, const std::string& nonce)
{
    sandbox::BoxSpec spec;
    spec.id = "handshake-" + nonce;
    spec.scopeFingerprint = session.scopeFingerprint;
    spec.runId = session.run;
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

Result<ExecutionSession> ReadinessProbe::session()
{
    const ExecutionSession wanted{
        "sc_" + std::string(32, '0'), "server", {}, auth::Surface::Handshake, std::string(kRun)};
    const auto carrier = m_sealer.seal(wanted);
    if (!carrier)
        return std::unexpected(carrier.error());
    auto opened = m_sealer.open(*carrier);
    if (opened && *opened != wanted)
        return fail(ErrorCode::Unavailable, "an execution session did not open as it was sealed");
    return opened;
}

Result<std::string> ReadinessProbe::prove(sandbox::BoxDriver& driver, const sandbox::BaseRoot& base)
{
    const auto opened = session();
    if (!opened)
        return std::unexpected(opened.error());
    const std::string nonce = toHex(randomBytes(8));
    auto box = m_makeBox(driver, smallBox(*opened, base, nonce));
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

} // namespace assay::runs
