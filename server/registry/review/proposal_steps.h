// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/auth/identity.h"
#include "server/store/proposal_table.h"
#include "server/store/revision_table.h"
#include "server/store/skill_table.h"

namespace assay::review {

// The steps of a proposal's life that come with another decision, inside the transaction of that decision.

/// Opens a proposal for a revision that was just published; one that is open is superseded by it. The new one.
Result<store::ProposalRow> openProposal(store::Connection& connection, const auth::Identity& by,
                                        const store::SkillRow& skill, const store::RevisionRow& revision,
                                        Timestamp now);

/// How a proposal ends.
struct Ending
{
    std::string_view state; ///< "promoted", "superseded" or "withdrawn"
    std::string_view by;
    std::string_view reason;
    std::string_view supersededBy; ///< a proposal's id, or empty
    Timestamp now;
};

/// Ends the skill's open proposal, when there is one and, with a `revision`, when it is about that one. Its approvals
/// count for nothing from then on.
Result<void> closeOpen(store::Connection& connection, std::string_view scope, std::string_view skill,
                       std::string_view revision, const Ending& ending);

/// An open proposal is compared with what is current: `target`, or nothing when null.
Result<void> rebaseOpen(store::Connection& connection, std::string_view scope, std::string_view skill,
                        const store::RevisionRow* target, Timestamp now);

} // namespace assay::review
