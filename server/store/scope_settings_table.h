// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/clock.h"
#include "server/store/connection.h"

namespace assay::store {

/// What the operator set for one scope. A scope without a row has the defaults of the registry.
struct ScopeSettingsRow
{
    std::uint64_t version = 0; ///< grows with every change
    std::string promotionMode;
    std::string requiredChecks; ///< JSON array of strings
    std::uint64_t requiredApprovals = 1;
    Timestamp updatedAt;
    std::string updatedBy;
};

/// The SQL of the table `scope_settings`, one exact scope at a time. Confined to its connection.
class ScopeSettingsTable
{
public:
    explicit ScopeSettingsTable(Connection& connection) : m_connection(connection) {}

    Result<std::optional<ScopeSettingsRow>> find(std::string_view fingerprint);
    /// Inserts, or replaces the whole row.
    Result<void> put(std::string_view fingerprint, const ScopeSettingsRow& row);

private:
    Connection& m_connection;
};

} // namespace assay::store
