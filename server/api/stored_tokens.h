// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/auth/token_store.h"
#include "server/store/database.h"

namespace assay::api {

/// The tokens of the server's database, as auth wants them. Thread-safe; calls block.
class StoredTokens final : public auth::TokenStore
{
public:
    explicit StoredTokens(store::Database& database) : m_database(database) {}

    Result<void> insert(const auth::StoredToken& token) override;
    Result<std::optional<auth::StoredToken>> findBySecretHash(const Digest& secretHash) override;
    Result<std::optional<auth::StoredToken>> find(std::string_view id) override;
    Result<std::vector<auth::StoredToken>> list(std::string_view afterId, std::uint32_t limit) override;
    Result<bool> revoke(std::string_view id, Timestamp now) override;

private:
    store::Database& m_database;
};

} // namespace assay::api
