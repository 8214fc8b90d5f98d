// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/audit/ledger.h"
#include "server/auth/identity.h"
#include "server/contract/proposal.h"
#include "server/registry/review/checks.h"
#include "server/store/skill_table.h"

namespace assay::review {

// The decisions about which revision is current, each inside the caller's write transaction; every route that makes
// one comes here (docs/review.md, "Rules"). Each leaves its row in the ledger.

/// Makes the revision current. In a scope of mode `reviewed` someone other than its publisher must do that, and a
/// revision that never was current needs its open proposal to be free of blockers. `PermissionDenied` with reason
/// `self_promotion`; `Conflict` with reason `proposal_closed`, `checks_not_passed`, `changes_requested` or
/// `approvals_missing` (every blocker is in `problems`), or for a withdrawn revision; `Refused` with
/// `revision_withdrawn` for a stopped digest. One that is current already stays, and nothing is written.
Result<void> promote(store::Connection& connection, const CheckRegistry& checks, audit::Ledger& ledger,
                     const auth::Identity& by, store::SkillRow& skill, const store::RevisionRow& target,
                     std::string_view reason, Timestamp now);

/// Refuses the revision for new runs, and ends its open proposal. The current one may be withdrawn too: then none is.
Result<void> withdraw(store::Connection& connection, audit::Ledger& ledger, const auth::Identity& by,
                      store::SkillRow& skill, store::RevisionRow& target, const contract::WithdrawRequest& request,
                      Timestamp now);

/// `Refused` with `revision_withdrawn` when the operator stopped the digest everywhere.
Result<void> checkNotStopped(store::Connection& connection, const std::optional<Digest>& digest);

} // namespace assay::review
