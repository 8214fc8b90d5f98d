// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/audit/ledger.h"
#include "server/auth/identity.h"
#include "server/contract/proposal.h"
#include "server/core/digest.h"
#include "server/store/database.h"

namespace assay::review {

/// Content that the operator stopped in every scope at once (docs/review.md, "Emergency stop"): from the moment a stop
/// is durable, no run starts with that digest, and no revision of it becomes current. Pointers stay where they are, so
/// that lifting a stop restores what was. Cancelling what runs is the caller's part. Thread-safe; calls block.
class Stops
{
public:
    Stops(store::Database& database, const Clock& clock) : m_database(database), m_clock(clock) {}

    /// `Conflict` when the digest is stopped already.
    Result<contract::Stop> add(const auth::Identity& by, const contract::NewStop& stop);
    Result<contract::Page<contract::Stop>> list(const contract::PageRequest& page);
    Result<contract::Stop> find(std::string_view digest);
    /// Lifts it; `NotFound` when there is none.
    Result<void> remove(const auth::Identity& by, std::string_view digest);

private:
    store::Database& m_database;
    const Clock& m_clock;
    audit::Ledger m_ledger{m_database, m_clock};
};

} // namespace assay::review
