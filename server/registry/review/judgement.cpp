// SPDX-License-Identifier: Apache-2.0
#include "server/registry/review/judgement.h"

#include "server/contract/codec.h"
#include "server/registry/review/scope_settings.h"
#include "server/store/proposal_review_table.h"

#include <format>

namespace assay::review {

namespace {

std::string names(const std::vector<contract::StandingVerdict>& verdicts)
{
    std::string out;
    for (const auto& verdict : verdicts)
        out += (out.empty() ? "" : ", ") + verdict.by;
    return out;
}

Result<void> readVerdicts(store::Connection& connection, std::string_view scope, const store::ProposalRow& proposal,
                          Judgement& out)
{
    auto standing = store::ProposalReviewTable(connection).standing(scope, proposal.id);
    if (!standing)
        return forward(standing);
    for (const store::ReviewRow& review : *standing) {
        if (review.digest != proposal.digest || review.author == proposal.publisher)
            continue;
        contract::StandingVerdict verdict{review.author, review.digest.text(), review.createdAt};
        (review.verdict == "approve" ? out.approvals : out.changeRequests).push_back(std::move(verdict));
    }
    return {};
}

void addBlockers(const store::ProposalRow& proposal, Judgement& out)
{
    if (proposal.state != "open") {
        out.blockers.push_back(
            {.code = "proposal_closed",
             .message = std::format("the proposal is {}; publish the content again for a new one", proposal.state)});
        return;
    }
    for (const contract::CheckState& check : out.checks)
        if (check.required && check.state != "pass")
            out.blockers.push_back(
                {.code = "checks_not_passed",
                 .message = std::format("the required check {} is {}: {}", check.id, check.state, check.summary)});
    if (!out.changeRequests.empty())
        out.blockers.push_back(
            {.code = "changes_requested",
             .message = std::format("changes are requested by {}; they must approve, or withdraw their verdict",
                                    names(out.changeRequests))});
    if (out.approvals.size() < out.settings.requiredApprovals)
        out.blockers.push_back({.code = "approvals_missing",
                                .message = std::format("{} of {} approvals by others than the publisher",
                                                       out.approvals.size(), out.settings.requiredApprovals)});
}

std::optional<contract::RevisionName> baseOf(const store::ProposalRow& row)
{
    if (row.baseRevision.empty())
        return std::nullopt;
    return contract::RevisionName{row.baseRevision, row.baseNumber,
                                  row.baseDigest ? row.baseDigest->text() : std::string()};
}

} // namespace

Result<Judgement> judge(store::Connection& connection, const CheckRegistry& checks, std::string_view scope,
                        const store::ProposalRow& proposal, const store::RevisionRow* revision, JudgeWhat what)
{
    Judgement out;
    auto settings = scopeSettings(connection, scope);
    if (!settings)
        return forward(settings);
    out.settings = std::move(*settings);
    if (revision) {
        auto judged = checks.judge(connection, {scope, proposal.skill, *revision, proposal.baseDigest},
                                   out.settings.requiredChecks, what);
        if (!judged)
            return forward(judged);
        out.checks = std::move(*judged);
    }
    if (auto read = readVerdicts(connection, scope, proposal, out); !read)
        return forward(read);
    addBlockers(proposal, out);
    return out;
}

contract::Proposal makeSummary(const store::ProposalRow& row, std::uint64_t requiredApprovals)
{
    contract::Proposal out;
    out.id = row.id;
    out.skill = row.skill;
    out.subject = {row.revision, row.number, row.digest.text()};
    out.publisher = row.publisher;
    out.note = row.note;
    out.description = row.description;
    out.state = store::isApproved(row, requiredApprovals) ? "approved" : row.state;
    out.base = baseOf(row);
    out.requiredApprovals = requiredApprovals;
    out.comments = row.comments;
    out.unresolved = row.unresolved;
    out.createdAt = row.createdAt;
    out.updatedAt = row.updatedAt;
    out.closedAt = row.closedAt;
    out.closedBy = row.closedBy;
    out.reason = row.reason;
    out.supersededBy = row.supersededBy;
    return out;
}

contract::Proposal makeProposal(const store::ProposalRow& row, const Judgement& judgement)
{
    contract::Proposal out = makeSummary(row, judgement.settings.requiredApprovals);
    out.approvals = judgement.approvals;
    out.changeRequests = judgement.changeRequests;
    out.checks = judgement.checks;
    out.blockers = judgement.blockers;
    // Of the whole answer: checks change without the row, and two changes may fall into one millisecond.
    const std::string body = json::serialize(contract::toJson(out, contract::ProposalDetail::Full));
    constexpr std::size_t kTagDigits = 32;
    out.etag = Digest::ofBytes(std::to_string(row.version) + '\n' + body).hex().substr(0, kTagDigits);
    return out;
}

} // namespace assay::review
