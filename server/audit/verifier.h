// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/audit/chain_check.h"
#include "server/audit/heads.h"
#include "server/core/clock.h"
#include "server/store/database.h"

#include <chrono>
#include <mutex>

namespace assay::audit {

/// Judges the ledger in the database: every row's hash, every link, every anchor. Reads some thousand rows at a time,
/// so memory is bounded, and no writer waits. Asks also for what is remembered outside the database. One at a time.
/// Thread-safe.
class Verifier
{
public:
    struct Options
    {
        const Heads* heads = nullptr; ///< none: only what the database says is judged
        const Clock* clock = nullptr; ///< none: rows may wait for an anchor for ever
        /// A row older than this without an anchor is a fault; not so soon after the start, for a killed server leaves
        /// such rows.
        std::chrono::milliseconds patience = std::chrono::minutes(5);
    };
    Verifier(store::Database& database, std::string publicKey, Options options);
    Verifier(store::Database& database, std::string publicKey) : Verifier(database, std::move(publicKey), Options()) {}

    /// One chain. `RateLimited` while another verification runs.
    Result<contract::AuditVerdict> chain(std::string_view fingerprint);
    /// All chains, and the chain of anchors: also a chain that was removed whole is missed.
    Result<contract::AuditVerdict> all();

private:
    using Fault = std::optional<contract::AuditFault>;
    Result<void> judge(std::string_view fingerprint, const Heads::Known& known, contract::AuditVerdict& verdict);
    Result<void> judgeAnchors(const Heads::Known& known, contract::AuditVerdict& verdict);
    Result<std::optional<std::string>> chainAfter(std::string_view fingerprint, const Heads::Known& known);
    Result<Fault> forgotten(store::Connection& connection, std::string_view fingerprint, const Heads::Head& head) const;
    Result<Fault> waiting(store::Connection& connection, std::string_view fingerprint) const;
    Heads::Known known() const { return m_options.heads ? m_options.heads->known() : Heads::Known(); }
    contract::AuditVerdict begin() const;

    store::Database& m_database;
    const std::string m_publicKey;
    const Options m_options;
    const std::chrono::steady_clock::time_point m_started;
    std::mutex m_turn;
};

} // namespace assay::audit
