// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/cli/command.h"

namespace assay::cli {

/// A proposal as text: what it is about, how it stands, and what blocks it.
std::string proposalText(const json::value& proposal);

/// POSTs `body` to the proposal's `verb` with `ifMatch` (empty: unconditionally) and prints the answer: the proposal,
/// or the member "proposal" of a review.
Result<int> changeProposal(Context& context, const std::string& id, const std::string& verb, const json::value& body,
                           const std::string& ifMatch);

} // namespace assay::cli
