// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/contract/audit.h"
#include "server/store/database.h"

namespace assay::audit {

/// Pages of one chain. Thread-safe; calls block on the database, for a bounded number of rows each.
class Reader
{
public:
    /// `publicKey`: of the server's signing key, 32 bytes.
    Reader(store::Database& database, std::string publicKey) : m_database(database), m_publicKey(std::move(publicKey))
    {}

    /// Newest first. A page may be short and still have a next one: one filter leads through its index, and the others
    /// are judged on at most `LedgerTable::kMaxScanned` rows. `InvalidArgument` at a filter or token that is not one.
    Result<contract::Page<contract::AuditEntry>> list(std::string_view fingerprint, const contract::AuditFilter& filter,
                                                      const contract::PageRequest& page);

    struct Export
    {
        std::string lines; ///< JSON, one a line
        std::optional<std::string> nextPageToken;
    };
    static constexpr std::uint32_t kExportRows = 5000;
    /// Oldest first: a line that says what follows, rows, and without a filter the anchors after their rows (formats in
    /// docs/ledger.md). At most `kExportRows` rows are looked at; the next page goes on behind them.
    Result<Export> exportPage(std::string_view fingerprint, const contract::AuditFilter& filter,
                              std::string_view pageToken);

private:
    store::Database& m_database;
    const std::string m_publicKey;
};

} // namespace assay::audit
