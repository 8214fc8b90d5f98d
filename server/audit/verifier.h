// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/audit/chain_check.h"
#include "server/store/database.h"

#include <mutex>

namespace assay::audit {

/// Judges the ledger in the database: every row's hash, every link, every anchor. Reads some thousand rows at a time,
/// so memory is bounded, and no writer waits. One at a time. Thread-safe.
class Verifier
{
public:
    Verifier(store::Database& database, std::string publicKey) : m_database(database), m_publicKey(std::move(publicKey))
    {}

    /// One chain. `RateLimited` while another verification runs.
    Result<contract::AuditVerdict> chain(std::string_view fingerprint);
    /// All chains, and the chain of anchors: also a chain that was removed whole is missed.
    Result<contract::AuditVerdict> all();

private:
    Result<void> judge(std::string_view fingerprint, contract::AuditVerdict& verdict);
    Result<void> judgeAnchors(contract::AuditVerdict& verdict);
    contract::AuditVerdict begin() const;

    store::Database& m_database;
    const std::string m_publicKey;
    std::mutex m_turn;
};

} // namespace assay::audit
