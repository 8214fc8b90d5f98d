// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/contract/page.h"
#include "server/core/clock.h"
#include "server/core/error.h"

namespace assay::contract {

/// How a scope's revisions become current, as the operator set it (docs/review.md, "Scope settings").
struct ScopeSettings
{
    std::string fingerprint;
    std::string promotionMode = "automatic"; ///< "automatic" or "reviewed"
    std::vector<std::string> requiredChecks; ///< ids; a promotion needs each to pass
    std::uint64_t requiredApprovals = 1;     ///< by how many people other than the publisher
    std::optional<Timestamp> updatedAt;      ///< empty while the scope has the defaults
    std::string updatedBy;
    std::string etag; ///< header only
};

/// One of a proposal's checks.
struct CheckState
{
    std::string id;
    std::string state; ///< "pass", "fail", "warn", "pending" or "unknown"
    std::string summary;
    bool required = false;
};

/// Body of `PATCH /v1/scopes/{fingerprint}`.
struct PatchScope
{
    std::optional<std::string> promotionMode;
    std::optional<std::vector<std::string>> requiredChecks;
    std::optional<std::uint64_t> requiredApprovals;
};

} // namespace assay::contract
