// SPDX-License-Identifier: Apache-2.0
#include "server/store/retention_table.h"

namespace assay::store {

Result<RetentionRow> RetentionTable::find(std::string_view fingerprint)
{
    auto query = m_connection.prepare("SELECT runs_days, artifacts_days, revisions_days FROM retention"
                                      " WHERE fingerprint = ?");
    if (!query)
        return forward(query);
    const auto found = query->bind(fingerprint).step();
    if (!found)
        return std::unexpected(found.error());
    if (!*found)
        return RetentionRow{};
    return RetentionRow{query->optionalInteger(0), query->optionalInteger(1), query->optionalInteger(2)};
}

Result<void> RetentionTable::put(std::string_view fingerprint, const RetentionRow& row)
{
    auto query = m_connection.prepare(
        "INSERT INTO retention(fingerprint, runs_days, artifacts_days, revisions_days) VALUES(?, ?, ?, ?)"
        " ON CONFLICT(fingerprint) DO UPDATE SET runs_days = excluded.runs_days,"
        " artifacts_days = excluded.artifacts_days, revisions_days = excluded.revisions_days");
    if (!query)
        return forward(query);
    return query->bind(fingerprint).bind(row.runsDays).bind(row.artifactsDays).bind(row.revisionsDays).run();
}

} // namespace assay::store
