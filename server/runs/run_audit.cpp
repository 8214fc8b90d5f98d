// SPDX-License-Identifier: Apache-2.0
#include "server/runs/run_audit.h"

#include "server/core/digest.h"

namespace assay::runs {

namespace {

void describe(audit::Record& record, const RunPlan& plan)
{
    record.run = plan.runId;
    // The host's folders are no base with a digest.
    record.metadata.baseDigest = Digest::parse(plan.base.digest) ? plan.base.digest : "host";
    record.metadata.egressMode = plan.egress.tier;
}

} // namespace

audit::Record runRecord(const auth::Identity& by, audit::Operation operation, audit::Decision decision,
                        const RunPlan& plan)
{
    auto out = audit::recordBy(by, operation, decision, audit::ResourceType::Run, plan.runId);
    describe(out, plan);
    return out;
}

audit::Record stoppedRecord(const RunPlan& plan)
{
    auto out = audit::recordByServer(plan.scopeFingerprint, audit::Operation::RunCancel, audit::Decision::Allowed,
                                     audit::ResourceType::Run, plan.runId);
    describe(out, plan);
    out.metadata.reason = "revision_stopped";
    return out;
}

audit::Record commandRecord(const auth::Identity& by, const RunPlan& plan, const std::string& command,
                            std::string_view cwd)
{
    using enum audit::Operation;
    using enum audit::Decision;
    using enum audit::ResourceType;
    auto out = by.principal.empty() ? audit::recordByServer({}, CommandExecute, Allowed, Command, command)
                                    : audit::recordBy(by, CommandExecute, Allowed, Command, command);
    out.scopeFingerprint = plan.scopeFingerprint;
    describe(out, plan);
    out.metadata.cwd = cwd;
    return out;
}

audit::Record endedRecord(audit::Record record, const sandbox::CommandResult& result)
{
    using enum sandbox::Termination;
    const bool byItself = result.termination == Exited || result.termination == Signalled;
    record.decision = byItself ? audit::Decision::Executed : audit::Decision::Terminated;
    record.metadata.termination = sandbox::terminationName(result.termination);
    if (result.exitCode)
        record.metadata.exitCode = *result.exitCode;
    record.metadata.wallMs = result.wall.count();
    if (record.metadata.egressMode == "none")
        record.metadata.egressTotalBytes = 0;
    return record;
}

audit::Record refusedRecord(audit::Record record, std::string_view reason)
{
    record.decision = audit::Decision::Refused;
    record.metadata.reason = reason;
    return record;
}

} // namespace assay::runs
