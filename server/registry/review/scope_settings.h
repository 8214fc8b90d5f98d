// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/audit/ledger.h"
#include "server/auth/identity.h"
#include "server/contract/review.h"
#include "server/core/clock.h"
#include "server/registry/review/checks.h"
#include "server/store/database.h"

namespace assay::review {

/// How the revisions of this scope become current, inside a transaction: the operator's row, or the defaults (mode
/// automatic, the checks package_valid and capabilities_reviewed, one approval).
Result<contract::ScopeSettings> scopeSettings(store::Connection& connection, std::string_view fingerprint);

/// "sc_" and 32 lower-case hex digits.
bool isFingerprint(std::string_view text);

/// What the operator sets for a scope (docs/review.md, "Scope settings"). It is the one resource that names a scope by
/// its fingerprint; it holds no content of it. Thread-safe; calls block.
class ScopeSettings
{
public:
    ScopeSettings(store::Database& database, const Clock& clock, const CheckRegistry& checks)
        : m_database(database), m_clock(clock), m_checks(checks)
    {}

    /// `NotFound` for what is no fingerprint; a scope that nobody uses yet has the defaults.
    Result<contract::ScopeSettings> find(std::string_view fingerprint);
    /// `InvalidArgument` for a check that this server does not have. Proposals that are open are judged by the new
    /// settings from now on.
    Result<contract::ScopeSettings> patch(const auth::Identity& by, std::string_view fingerprint,
                                          const contract::PatchScope& patch, const std::optional<std::string>& ifMatch);

private:
    Result<void> checkKnown(const contract::PatchScope& patch) const;

    store::Database& m_database;
    const Clock& m_clock;
    const CheckRegistry& m_checks;
    audit::Ledger m_ledger{m_database, m_clock};
};

} // namespace assay::review
