// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/audit/row.h"
#include "server/store/connection.h"

#include <set>
#include <vector>

namespace assay::audit {

/// What a page of rows is asked for: newest first. Empty members do not filter.
struct RowQuery
{
    std::string decision;
    std::string operation;
    std::string actor;
    std::string run;
    std::optional<Timestamp> since; ///< at or after
    std::optional<Timestamp> until; ///< before
    /// Keyset: only rows before this place in the order (time, then number).
    struct Place
    {
        Timestamp at;
        std::int64_t row = 0;
        auto operator<=>(const Place&) const = default;
    };
    std::optional<Place> before;
    std::uint32_t limit = 50;
};

/// The SQL of the tables `ledger` and `ledger_open`. Every query takes the chain. Confined to its connection.
class LedgerTable
{
public:
    explicit LedgerTable(store::Connection& connection) : m_connection(connection) {}

    /// The newest row's number and hash; number 0 and the genesis of an empty chain.
    struct Head
    {
        std::int64_t seq = 0;
        Digest hash;
    };
    Result<Head> head(std::string_view fingerprint);
    Result<void> insert(const Row& row);

    /// Newest first. One filter leads through its index and at most `kMaxScanned` rows are looked at: `more` then says
    /// where to go on, also when `rows` is short.
    struct Listed
    {
        std::vector<Row> rows;
        std::optional<RowQuery::Place> more;
    };
    Result<Listed> list(std::string_view fingerprint, const RowQuery& query);
    /// By number, those after `seq`, at most `limit`: what is verified and exported.
    Result<std::vector<Row>> after(std::string_view fingerprint, std::int64_t seq, std::uint32_t limit);
    Result<std::optional<Row>> find(std::string_view fingerprint, std::int64_t seq);
    /// The first chain whose fingerprint is above `fingerprint`; empty at the end. The server's own has none below.
    Result<std::optional<std::string>> chainAfter(std::string_view fingerprint);

    /// The newest row over all chains (their order of writing); 0 in an empty ledger.
    Result<std::int64_t> newestRow();
    struct Grown
    {
        std::set<std::string> fingerprints;
        std::int64_t lastRow = 0; ///< of those looked at; 0 when there was none
    };
    /// The chains to which the `limit` rows after `row` belong.
    Result<Grown> chainsAfter(std::int64_t row, std::uint32_t limit);

    /// Reservations that have no end yet: a working list beside the ledger, not part of it.
    Result<void> openReservation(std::string_view fingerprint, std::int64_t seq);
    /// True when it was open.
    Result<bool> closeReservation(std::string_view fingerprint, std::int64_t seq);
    struct Key
    {
        std::string fingerprint;
        std::int64_t seq = 0;
    };
    Result<std::vector<Key>> openReservations(std::uint32_t limit);

    static constexpr std::uint32_t kMaxScanned = 2000;

private:
    store::Connection& m_connection;
};

} // namespace assay::audit
