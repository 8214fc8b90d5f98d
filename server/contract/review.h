// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/contract/page.h"
#include "server/core/clock.h"
#include "server/core/error.h"

namespace assay::contract {

/// For how many days a scope keeps what has ended, been made or been withdrawn (docs/retention.md); empty members
/// follow the server's settings, 0 is for ever.
struct RetentionDays
{
    static constexpr std::uint64_t kMost = 36'500;
    std::optional<std::uint64_t> runs;
    std::optional<std::uint64_t> artifacts;
    std::optional<std::uint64_t> revisions;
    bool operator==(const RetentionDays&) const = default;
};

/// How a scope's revisions become current and how long it keeps things, as the operator set it (docs/review.md, "Scope
/// settings").
struct ScopeSettings
{
    std::string fingerprint;
    std::string promotionMode = "automatic"; ///< "automatic" or "reviewed"
    std::vector<std::string> requiredChecks; ///< ids; a promotion needs each to pass
    std::uint64_t requiredApprovals = 1;     ///< by how many people other than the publisher
    RetentionDays retention;
    std::optional<Timestamp> updatedAt; ///< empty while the scope has the defaults
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
    /// A member: its new days, or empty days (null) to follow the server again.
    struct Retention
    {
        using Days = std::optional<std::optional<std::uint64_t>>;
        Days runs;
        Days artifacts;
        Days revisions;
    } retention;
};

} // namespace assay::contract
