// SPDX-License-Identifier: Apache-2.0
#include "server/store/scope_settings_table.h"

namespace assay::store {

Result<std::optional<ScopeSettingsRow>> ScopeSettingsTable::find(std::string_view fingerprint)
{
    auto query = m_connection.prepare("SELECT version, promotion_mode, required_checks, required_approvals, updated_at,"
                                      " updated_by FROM scope_settings WHERE fingerprint = ?");
    if (!query)
        return forward(query);
    const auto found = query->bind(fingerprint).step();
    if (!found)
        return std::unexpected(found.error());
    if (!*found)
        return std::nullopt;
    ScopeSettingsRow row;
    row.version = static_cast<std::uint64_t>(query->integer(0));
    row.promotionMode = query->text(1);
    row.requiredChecks = query->text(2);
    row.requiredApprovals = static_cast<std::uint64_t>(query->integer(3));
    row.updatedAt = query->timestamp(4);
    row.updatedBy = query->text(5);
    return row;
}

Result<void> ScopeSettingsTable::put(std::string_view fingerprint, const ScopeSettingsRow& row)
{
    auto query = m_connection.prepare(
        "INSERT INTO scope_settings(fingerprint, version, promotion_mode, required_checks, required_approvals,"
        " updated_at, updated_by) VALUES(?, ?, ?, ?, ?, ?, ?) ON CONFLICT(fingerprint) DO UPDATE SET"
        " version = excluded.version, promotion_mode = excluded.promotion_mode,"
        " required_checks = excluded.required_checks, required_approvals = excluded.required_approvals,"
        " updated_at = excluded.updated_at, updated_by = excluded.updated_by");
    if (!query)
        return forward(query);
    query->bind(fingerprint).bind(static_cast<std::int64_t>(row.version)).bind(row.promotionMode);
    query->bind(row.requiredChecks).bind(static_cast<std::int64_t>(row.requiredApprovals));
    return query->bind(row.updatedAt).bind(row.updatedBy).run();
}

} // namespace assay::store
