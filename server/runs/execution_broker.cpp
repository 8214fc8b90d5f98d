// SPDX-License-Identifier: Apache-2.0
#include "server/runs/execution_broker.h"

namespace assay::runs {

Result<std::string> ExecutionBroker::sealFor(const auth::Identity& by, const std::string& run)
{
    return m_sealer.seal(sessionOf(by, run));
}

Result<std::string> ExecutionBroker::admit(const auth::Identity& by, const LiveRun& run)
{
    if (auto open = run.mayAddCommand(); !open)
        return forward(open);
    if (by.scopeFingerprint != run.plan().scopeFingerprint)
        return refused(run, refuse("session_scope", "this run belongs to another scope").error());
    return sealFor(by, run.plan().runId);
}

Result<ExecutionSession> ExecutionBroker::open(std::string_view carrier, const LiveRun& run)
{
    auto session = m_sealer.open(carrier);
    if (!session)
        return refused(run, std::move(session).error());
    if (session->scopeFingerprint != run.plan().scopeFingerprint)
        return refused(
            run, refuse("session_scope", "the execution session is another scope's; nothing was executed").error());
    if (session->run != run.plan().runId)
        return refused(run,
                       refuse("session_run", "the execution session is another run's; nothing was executed").error());
    if (!run.isAlive())
        return refuse("run_over", "the run was ended while the command waited; it was not executed");
    return session;
}

ExecutionSession ExecutionBroker::whoAsked(std::string_view carrier)
{
    return m_sealer.open(carrier).value_or(ExecutionSession{});
}

// In the chain of the scope whose run was to be used; what the carrier says of its maker is not believed.
std::unexpected<Error> ExecutionBroker::refused(const LiveRun& run, Error why)
{
    auto record = audit::recordByServer(run.plan().scopeFingerprint, audit::Operation::SessionOpen,
                                        audit::Decision::Refused, audit::ResourceType::Run, run.plan().runId);
    record.run = run.plan().runId;
    record.metadata.reason = why.reason;
    if (auto noted = m_journal.note(record); !noted)
        why.detail += "; and it could not be recorded: " + noted.error().message;
    return std::unexpected(std::move(why));
}

} // namespace assay::runs
