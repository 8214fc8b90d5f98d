// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/auth/identity.h"
#include "server/contract/proposal.h"
#include "server/store/database.h"

namespace assay::review {

/// What was current when, by whom and why (B14): every move of a skill's pointer, kept for as long as the skill's row.
/// Another scope's skill is `NotFound` like a missing one. Thread-safe; calls block.
class History
{
public:
    explicit History(store::Database& database) : m_database(database) {}

    /// Newest first.
    Result<contract::Page<contract::Promotion>> list(const auth::Identity& by, std::string_view skill,
                                                     const contract::PageRequest& page);
    /// The move that was in force at `time`: none before the first.
    Result<std::optional<contract::Promotion>> at(const auth::Identity& by, std::string_view skill, Timestamp time);

private:
    store::Database& m_database;
};

} // namespace assay::review
