// SPDX-License-Identifier: Apache-2.0
#include "server/registry/review/promotion.h"

#include "server/registry/review/judgement.h"
#include "server/registry/review/pointer.h"
#include "server/registry/review/proposal_steps.h"
#include "server/registry/review/scope_settings.h"
#include "server/store/stop_table.h"

namespace assay::review {

namespace {

std::unexpected<Error> blocked(std::vector<Problem> blockers)
{
    Error error{ErrorCode::Conflict, "the revision may not be promoted: ", {}, blockers.front().code, {}};
    for (const Problem& blocker : blockers)
        error.message += (&blocker == blockers.data() ? "" : "; ") + blocker.message;
    error.problems = std::move(blockers);
    return std::unexpected(std::move(error));
}

Result<void> checkReviewed(store::Connection& connection, const CheckRegistry& checks, const auth::Identity& by,
                           const store::SkillRow& skill, const store::RevisionRow& target)
{
    if (by.principal == target.publisher)
        return std::unexpected(Error{ErrorCode::PermissionDenied,
                                     "the publisher of a revision cannot promote it; someone else with the reviewer "
                                     "role must",
                                     {},
                                     "self_promotion",
                                     {}});
    // What was current once was approved for its digest, or from before reviews: four eyes remain.
    if (target.promotedAt)
        return {};
    auto open = store::ProposalTable(connection).openOf(by.scopeFingerprint, skill.name);
    if (!open)
        return forward(open);
    if (!*open || (*open)->revision != target.id)
        return blocked({{.code = "proposal_closed",
                         .message = "its proposal is not open any more; publish the content again for a new one"}});
    auto judged = judge(connection, checks, by.scopeFingerprint, **open, &target, JudgeWhat::Required);
    if (!judged)
        return forward(judged);
    return judged->blockers.empty() ? Result<void>() : blocked(std::move(judged->blockers));
}

audit::Record rowOf(const auth::Identity& by, audit::Operation operation, const store::SkillRow& skill,
                    const store::RevisionRow& revision)
{
    return audit::recordBy(by, operation, audit::Decision::Allowed, audit::ResourceType::Revision,
                           audit::revisionResource(skill.name, revision.id));
}

} // namespace

Result<void> checkNotStopped(store::Connection& connection, const std::optional<Digest>& digest)
{
    if (!digest)
        return {};
    auto stop = store::StopTable(connection).find(*digest);
    if (!stop)
        return forward(stop);
    if (!*stop)
        return {};
    return refuse("revision_withdrawn", "the operator stopped this content everywhere: " + (*stop)->reason);
}

Result<void> promote(store::Connection& connection, const CheckRegistry& checks, audit::Ledger& ledger,
                     const auth::Identity& by, store::SkillRow& skill, const store::RevisionRow& target,
                     std::string_view reason, Timestamp now)
{
    const std::string_view scope = by.scopeFingerprint;
    if (target.withdrawnAt)
        return fail(ErrorCode::Conflict, "the revision was withdrawn; promote another one or publish again");
    if (auto stopped = checkNotStopped(connection, target.digest); !stopped)
        return stopped;
    if (skill.currentRevision == target.id)
        return {};
    auto settings = scopeSettings(connection, scope);
    if (!settings)
        return forward(settings);
    if (settings->promotionMode == "reviewed") {
        if (auto allowed = checkReviewed(connection, checks, by, skill, target); !allowed)
            return allowed;
    }
    auto done = closeOpen(connection, scope, skill.name, target.id, {"promoted", by.principal, reason, {}, now});
    if (done)
        done = movePointer(connection, scope, skill, &target,
                           {target.promotedAt ? "rollback" : "promote", by.principal, reason, now});
    if (done)
        done = ledger.append(connection, rowOf(by, audit::Operation::RevisionPromote, skill, target));
    return done;
}

Result<void> withdraw(store::Connection& connection, audit::Ledger& ledger, const auth::Identity& by,
                      store::SkillRow& skill, store::RevisionRow& target, const contract::WithdrawRequest& request,
                      Timestamp now)
{
    const std::string_view scope = by.scopeFingerprint;
    const auto operation = request.stopRuns ? audit::Operation::RevisionStop : audit::Operation::RevisionWithdraw;
    if (target.withdrawnAt) // what runs it may still be stopped
        return request.stopRuns ? ledger.append(connection, rowOf(by, operation, skill, target)) : Result<void>();
    target.withdrawnAt = now;
    target.withdrawnReason = request.reason;
    auto done = store::RevisionTable(connection).markWithdrawn(scope, skill.name, target.id, now, request.reason);
    if (done)
        done =
            closeOpen(connection, scope, skill.name, target.id, {"withdrawn", by.principal, request.reason, {}, now});
    if (done)
        done = ledger.append(connection, rowOf(by, operation, skill, target));
    if (!done)
        return done;
    if (skill.currentRevision == target.id)
        return movePointer(connection, scope, skill, nullptr,
                           {request.stopRuns ? "stop" : "withdraw", by.principal, request.reason, now});
    if (skill.currentRevision.empty() && skill.shown.id == target.id)
        skill.state = "withdrawn";
    ++skill.version;
    skill.updatedAt = now;
    return store::SkillTable(connection).update(scope, skill);
}

} // namespace assay::review
