// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/audit/ledger_table.h"
#include "server/core/clock.h"
#include "server/store/database.h"

namespace assay::audit {

/// The audit ledger: rows that are only added, each chained to the one before it in its scope (docs/ledger.md).
/// Thread-safe. The calls that take a connection belong inside a write job, so that a decision and its row are one
/// transaction: both are durable or neither happened. They return after a few reads and writes and never block.
class Ledger
{
public:
    Ledger(store::Database& database, const Clock& clock) : m_database(database), m_clock(clock) {}
    Ledger(const Ledger&) = delete;
    Ledger& operator=(const Ledger&) = delete;

    /// Adds a row for `record`, in the transaction of the decision that it records.
    Result<void> append(store::Connection& connection, const Record& record);

    /// A reservation: what is to be executed, written before it is. Its number in the record's scope.
    Result<std::int64_t> reserve(store::Connection& connection, const Record& record);
    /// How a reserved command ended: a row that refers to the reservation. One that was ended already gets no second.
    Result<void> complete(store::Connection& connection, std::int64_t reservation, const Record& record);

    /// A decision without a write of its own, above all a refusal: durable on return.
    Result<void> record(const Record& record);

    /// Ends what a killed server has reserved and not ended: `outcome_unknown`. Called once, before anything is
    /// reserved; the number of such commands.
    Result<std::uint64_t> recover();

private:
    Result<std::int64_t> add(store::Connection& connection, Row row);

    store::Database& m_database;
    const Clock& m_clock;
};

} // namespace assay::audit
