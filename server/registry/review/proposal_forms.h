// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/contract/proposal.h"
#include "server/store/proposal_comment_table.h"
#include "server/store/proposal_review_table.h"
#include "server/store/proposal_table.h"

namespace assay::review {

// Rows as the API shows them, and what is said when a proposal does not take what was asked.

contract::Comment makeComment(const store::CommentRow& row);
contract::Review makeReview(const store::ReviewRow& row);

/// `NotFound` in the same words for a missing one and another scope's.
Result<store::ProposalRow> requireProposal(store::Connection& connection, std::string_view scope, std::string_view id);

/// `Conflict` with reason `proposal_closed`.
std::unexpected<Error> closedProposal(const store::ProposalRow& row);
/// `PreconditionFailed`: the caller names another digest than the proposal is about.
std::unexpected<Error> otherDigest(const store::ProposalRow& row);
/// Is `seen`, the digest that the caller compared with (empty: with nothing), that of the proposal's base now?
Result<void> checkBase(const store::ProposalRow& row, const std::optional<std::string>& seen);
/// `PermissionDenied` with reason `self_approval`: the publisher cannot do `what`.
std::unexpected<Error> selfReview(std::string_view what);

} // namespace assay::review
