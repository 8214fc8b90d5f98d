// SPDX-License-Identifier: Apache-2.0
#include "server/audit/ledger_table.h"

#include "server/audit/page_sql.h"

#include <algorithm>
#include <limits>

namespace assay::audit {

using store::Statement;

namespace {

#define ASSAY_LEDGER_COLUMNS                                                                                           \
    "fingerprint, seq, at, actor, actor_type, auth_source, resource_type, resource, operation, decision, run,"         \
    " reservation, occurrences, surface, cwd, reason, exit_code, termination, base_digest, egress_mode,"               \
    " egress_total_bytes, wall_ms, workspace_kib, previous, hash"

#define ASSAY_LEDGER_PAGE(INDEX, LEADING)                                                                              \
    "SELECT " ASSAY_LEDGER_COLUMNS ", row FROM ledger INDEXED BY " INDEX " WHERE fingerprint = ?" LEADING              \
    " AND at >= ? AND (at, row) < (?, ?) ORDER BY at DESC, row DESC"

// A digest that is not one becomes all zeros, which no row hashes to.
Digest digestOf(std::string_view raw) { return Digest::fromBytes(raw).value_or(Digest()); }

Metadata readMetadata(const Statement& query, int column)
{
    return {.surface = std::string(query.text(column)),
            .cwd = std::string(query.text(column + 1)),
            .reason = std::string(query.text(column + 2)),
            .exitCode = query.optionalInteger(column + 3),
            .termination = std::string(query.text(column + 4)),
            .baseDigest = std::string(query.text(column + 5)),
            .egressMode = std::string(query.text(column + 6)),
            .egressTotalBytes = query.optionalInteger(column + 7),
            .wallMs = query.optionalInteger(column + 8),
            .workspaceKib = query.optionalInteger(column + 9)};
}

Row readRow(const Statement& query)
{
    Row out;
    out.fingerprint = query.text(0);
    out.seq = query.integer(1);
    out.at = query.timestamp(2);
    std::string* const texts[] = {&out.actor,    &out.actorType, &out.authSource, &out.resourceType,
                                  &out.resource, &out.operation, &out.decision,   &out.run};
    int column = 3;
    for (std::string* text : texts)
        *text = query.text(column++);
    out.reservation = query.optionalInteger(11);
    out.occurrences = query.integer(12);
    out.metadata = readMetadata(query, 13);
    out.previous = digestOf(query.blob(23));
    out.hash = digestOf(query.blob(24));
    return out;
}

constexpr int kRowColumn = 25;

/// Takes what one filter's index does not judge.
bool matches(const Statement& query, const RowQuery& wanted)
{
    return (wanted.operation.empty() || query.text(8) == wanted.operation) &&
           (wanted.decision.empty() || query.text(9) == wanted.decision) &&
           (wanted.actor.empty() || query.text(3) == wanted.actor) &&
           (wanted.run.empty() || query.text(10) == wanted.run);
}

struct Lead
{
    std::string_view value; ///< of the filter; empty: none
    std::string_view sql;
};

/// The statement led by the filter that usually leaves the fewest rows.
Lead leadOf(const RowQuery& wanted)
{
    // An empty run is not in its index.
    const Lead leads[] = {{wanted.run, ASSAY_LEDGER_PAGE("ledger_by_run", " AND run = ? AND run <> ''")},
                          {wanted.actor, ASSAY_LEDGER_PAGE("ledger_by_actor", " AND actor = ?")},
                          {wanted.operation, ASSAY_LEDGER_PAGE("ledger_by_operation", " AND operation = ?")},
                          {wanted.decision, ASSAY_LEDGER_PAGE("ledger_by_decision", " AND decision = ?")}};
    for (const Lead& lead : leads)
        if (!lead.value.empty())
            return lead;
    return {{}, ASSAY_LEDGER_PAGE("ledger_by_time", "")};
}

/// The place that all rows of the page are before. Rows count from 1, so (t, 0) is before all of time t.
RowQuery::Place endOf(const RowQuery& query)
{
    constexpr auto kLast = std::numeric_limits<std::int64_t>::max();
    RowQuery::Place out{Timestamp(std::chrono::milliseconds(kLast)), kLast};
    if (query.until)
        out = {*query.until, 0};
    return query.before ? std::min(out, *query.before) : out;
}

void bindRow(Statement& query, const Row& row)
{
    query.bind(row.fingerprint).bind(row.seq).bind(row.at);
    for (const std::string* text : {&row.actor, &row.actorType, &row.authSource, &row.resourceType, &row.resource,
                                    &row.operation, &row.decision, &row.run})
        query.bind(*text);
    const Metadata& more = row.metadata;
    query.bind(row.reservation).bind(row.occurrences).bind(more.surface).bind(more.cwd).bind(more.reason);
    query.bind(more.exitCode).bind(more.termination).bind(more.baseDigest).bind(more.egressMode);
    query.bind(more.egressTotalBytes).bind(more.wallMs).bind(more.workspaceKib);
    query.bindBlob(row.previous.bytes()).bindBlob(row.hash.bytes());
}

} // namespace

Result<LedgerTable::Head> LedgerTable::head(std::string_view fingerprint)
{
    auto query = m_connection.prepare("SELECT seq, hash FROM ledger WHERE fingerprint = ? ORDER BY seq DESC LIMIT 1");
    if (!query)
        return forward(query);
    const auto found = query->bind(fingerprint).step();
    if (!found)
        return std::unexpected(found.error());
    if (!*found)
        return Head{0, genesisOf(fingerprint)};
    return Head{query->integer(0), digestOf(query->blob(1))};
}

Result<void> LedgerTable::insert(const Row& row)
{
    auto query = m_connection.prepare("INSERT INTO ledger(" ASSAY_LEDGER_COLUMNS ")"
                                      " VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,"
                                      " ?)");
    if (!query)
        return forward(query);
    bindRow(*query, row);
    return query->run();
}

std::string_view pageSql(const RowQuery& query) { return leadOf(query).sql; }

Result<LedgerTable::Listed> LedgerTable::list(std::string_view fingerprint, const RowQuery& wanted)
{
    const Lead lead = leadOf(wanted);
    auto query = m_connection.prepare(lead.sql);
    if (!query)
        return forward(query);
    query->bind(fingerprint);
    if (!lead.value.empty())
        query->bind(lead.value);
    const RowQuery::Place end = endOf(wanted);
    query->bind(wanted.since.value_or(Timestamp(std::chrono::milliseconds(0)))).bind(end.at).bind(end.row);
    Listed out;
    RowQuery::Place seen;
    for (std::uint32_t scanned = 0;; ++scanned) {
        const auto found = query->step();
        if (!found)
            return std::unexpected(found.error());
        if (!*found)
            return out;
        const RowQuery::Place place{query->timestamp(2), query->integer(kRowColumn)};
        if (out.rows.size() >= wanted.limit || scanned >= kMaxScanned) {
            out.more = seen;
            return out;
        }
        if (matches(*query, wanted))
            out.rows.push_back(readRow(*query));
        seen = place;
    }
}

Result<std::vector<Row>> LedgerTable::after(std::string_view fingerprint, std::int64_t seq, std::uint32_t limit)
{
    auto query = m_connection.prepare("SELECT " ASSAY_LEDGER_COLUMNS
                                      " FROM ledger WHERE fingerprint = ? AND seq > ? ORDER BY seq LIMIT ?");
    if (!query)
        return forward(query);
    query->bind(fingerprint).bind(seq).bind(std::int64_t{limit});
    std::vector<Row> out;
    for (;;) {
        const auto found = query->step();
        if (!found)
            return std::unexpected(found.error());
        if (!*found)
            return out;
        out.push_back(readRow(*query));
    }
}

Result<std::optional<Row>> LedgerTable::find(std::string_view fingerprint, std::int64_t seq)
{
    auto rows = after(fingerprint, seq - 1, 1);
    if (!rows)
        return forward(rows);
    if (rows->empty() || rows->front().seq != seq)
        return std::nullopt;
    return std::move(rows->front());
}

Result<std::optional<std::string>> LedgerTable::chainAfter(std::string_view fingerprint)
{
    auto query = m_connection.prepare("SELECT fingerprint FROM ledger WHERE fingerprint > ?"
                                      " ORDER BY fingerprint LIMIT 1");
    if (!query)
        return forward(query);
    const auto found = query->bind(fingerprint).step();
    if (!found)
        return std::unexpected(found.error());
    return *found ? std::optional(std::string(query->text(0))) : std::nullopt;
}

Result<std::int64_t> LedgerTable::newestRow()
{
    auto query = m_connection.prepare("SELECT max(row) FROM ledger");
    if (!query)
        return forward(query);
    const auto found = query->step();
    if (!found)
        return std::unexpected(found.error());
    return query->integer(0);
}

Result<LedgerTable::Grown> LedgerTable::chainsAfter(std::int64_t row, std::uint32_t limit)
{
    auto query = m_connection.prepare("SELECT row, fingerprint FROM ledger WHERE row > ? ORDER BY row LIMIT ?");
    if (!query)
        return forward(query);
    query->bind(row).bind(std::int64_t{limit});
    Grown out;
    for (;;) {
        const auto found = query->step();
        if (!found)
            return std::unexpected(found.error());
        if (!*found)
            return out;
        out.lastRow = query->integer(0);
        out.fingerprints.emplace(query->text(1));
    }
}

Result<void> LedgerTable::openReservation(std::string_view fingerprint, std::int64_t seq)
{
    auto query = m_connection.prepare("INSERT INTO ledger_open(fingerprint, seq) VALUES(?, ?)");
    if (!query)
        return forward(query);
    return query->bind(fingerprint).bind(seq).run();
}

Result<bool> LedgerTable::closeReservation(std::string_view fingerprint, std::int64_t seq)
{
    auto query = m_connection.prepare("DELETE FROM ledger_open WHERE fingerprint = ? AND seq = ?");
    if (!query)
        return forward(query);
    if (auto done = query->bind(fingerprint).bind(seq).run(); !done)
        return forward(done);
    return m_connection.changes() > 0;
}

Result<std::vector<LedgerTable::Key>> LedgerTable::openReservations(std::uint32_t limit)
{
    auto query = m_connection.prepare("SELECT fingerprint, seq FROM ledger_open ORDER BY fingerprint, seq LIMIT ?");
    if (!query)
        return forward(query);
    query->bind(std::int64_t{limit});
    std::vector<Key> out;
    for (;;) {
        const auto found = query->step();
        if (!found)
            return std::unexpected(found.error());
        if (!*found)
            return out;
        out.push_back({std::string(query->text(0)), query->integer(1)});
    }
}

} // namespace assay::audit
