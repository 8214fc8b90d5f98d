// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/audit/ledger.h"
#include "server/auth/token_store.h"
#include "server/store/database.h"

namespace assay::api {

/// The tokens of the server's database, as auth wants them; each change is a row of the server's own audit ledger.
/// Thread-safe; calls block.
class StoredTokens final : public auth::TokenStore
{
public:
    explicit StoredTokens(store::Database& database) : m_database(database) {}

    Result<void> insert(const auth::StoredToken& token, const auth::Identity& by) override;
    Result<std::optional<auth::StoredToken>> findBySecretHash(const Digest& secretHash) override;
    Result<std::optional<auth::StoredToken>> find(std::string_view id) override;
    Result<std::vector<auth::StoredToken>> list(std::string_view afterId, std::uint32_t limit) override;
    Result<bool> revoke(std::string_view id, Timestamp now, const auth::Identity& by) override;

private:
    store::Database& m_database;
    const SystemClock m_clock;
    audit::Ledger m_ledger{m_database, m_clock};
};

} // namespace assay::api
