// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/contract/proposal.h"
#include "server/registry/review/checks.h"
#include "server/store/proposal_table.h"

namespace assay::review {

/// How a proposal stands at one moment, and what keeps it from being promoted by anybody.
struct Judgement
{
    contract::ScopeSettings settings;
    std::vector<contract::CheckState> checks;
    std::vector<contract::StandingVerdict> approvals; ///< of this digest, by others than the publisher
    std::vector<contract::StandingVerdict> changeRequests;
    std::vector<Problem> blockers; ///< empty when it may be promoted; each `code` is a reason of docs/review.md
};

/// Judges inside the caller's transaction. `revision` is null when the collector took it.
Result<Judgement> judge(store::Connection& connection, const CheckRegistry& checks, std::string_view scope,
                        const store::ProposalRow& proposal, const store::RevisionRow* revision,
                        JudgeWhat what = JudgeWhat::Everything);

/// The proposal as the API shows it, with its entity tag.
contract::Proposal makeProposal(const store::ProposalRow& row, const Judgement& judgement);
/// The same for lists, which judge nothing.
contract::Proposal makeSummary(const store::ProposalRow& row, std::uint64_t requiredApprovals);

} // namespace assay::review
