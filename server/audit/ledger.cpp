// SPDX-License-Identifier: Apache-2.0
#include "server/audit/ledger.h"

namespace assay::audit {

using store::Connection;

namespace {

constexpr std::uint32_t kRecoveredAtOnce = 500;

/// The row that ends a reservation nobody lives to end: the same command, by the server.
Row unknownOutcome(const Row& reserved)
{
    Row out = reserved;
    out.actor = nameOf(ActorType::Server);
    out.actorType = nameOf(ActorType::Server);
    out.authSource = nameOf(AuthSource::Server);
    out.decision = nameOf(Decision::OutcomeUnknown);
    out.reservation = reserved.seq;
    out.metadata.reason = "interrupted";
    return out;
}

} // namespace

// The head is read inside the transaction: a job that fails takes its row back, and the next one reads what is left.
Result<std::int64_t> Ledger::add(Connection& connection, Row row)
{
    LedgerTable table(connection);
    auto head = table.head(row.fingerprint);
    if (!head)
        return forward(head);
    row.seq = head->seq + 1;
    row.at = m_clock.now();
    row.previous = head->hash;
    row.hash = hashOf(row);
    if (auto inserted = table.insert(row); !inserted)
        return forward(inserted);
    return row.seq;
}

Result<void> Ledger::append(Connection& connection, const Record& record)
{
    auto row = rowOf(record);
    if (!row)
        return forward(row);
    auto added = add(connection, std::move(*row));
    return added ? Result<void>{} : Result<void>(forward(added));
}

Result<std::int64_t> Ledger::reserve(Connection& connection, const Record& record)
{
    auto row = rowOf(record);
    if (!row)
        return forward(row);
    const std::string fingerprint = row->fingerprint;
    auto seq = add(connection, std::move(*row));
    if (!seq)
        return seq;
    if (auto opened = LedgerTable(connection).openReservation(fingerprint, *seq); !opened)
        return forward(opened);
    return seq;
}

Result<void> Ledger::complete(Connection& connection, std::int64_t reservation, const Record& record)
{
    auto row = rowOf(record);
    if (!row)
        return forward(row);
    auto wasOpen = LedgerTable(connection).closeReservation(row->fingerprint, reservation);
    if (!wasOpen)
        return forward(wasOpen);
    if (!*wasOpen)
        return {};
    row->reservation = reservation;
    auto added = add(connection, std::move(*row));
    return added ? Result<void>{} : Result<void>(forward(added));
}

Result<void> Ledger::record(const Record& record)
{
    return m_database.write([&](Connection& connection) { return append(connection, record); });
}

Result<std::uint64_t> Ledger::recover()
{
    std::uint64_t total = 0;
    for (;;) {
        auto ended = m_database.write([&](Connection& connection) -> Result<std::uint64_t> {
            LedgerTable table(connection);
            auto open = table.openReservations(kRecoveredAtOnce);
            if (!open)
                return forward(open);
            for (const auto& [fingerprint, seq] : *open) {
                auto reserved = table.find(fingerprint, seq);
                if (!reserved)
                    return forward(reserved);
                if (auto closed = table.closeReservation(fingerprint, seq); !closed)
                    return forward(closed);
                if (!*reserved)
                    continue; // taken out by hand: `verify` tells
                if (auto added = add(connection, unknownOutcome(**reserved)); !added)
                    return forward(added);
            }
            return open->size();
        });
        if (!ended)
            return ended;
        total += *ended;
        if (*ended < kRecoveredAtOnce)
            return total;
    }
}

} // namespace assay::audit
