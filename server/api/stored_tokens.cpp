// SPDX-License-Identifier: Apache-2.0
#include "server/api/stored_tokens.h"

#include "server/store/token_table.h"

namespace assay::api {

namespace {

auth::StoredToken tokenOf(store::TokenRow&& row)
{
    return {std::move(row.id),      std::move(row.fingerprint), row.secretHash, std::move(row.principal),
            auth::Roles(row.roles), std::move(row.name),        row.createdAt,  row.expiresAt,
            row.revokedAt};
}

Result<std::optional<auth::StoredToken>> tokenOf(Result<std::optional<store::TokenRow>>&& row)
{
    if (!row)
        return forward(row);
    return *row ? std::optional(tokenOf(std::move(**row))) : std::nullopt;
}

} // namespace

Result<void> StoredTokens::insert(const auth::StoredToken& token)
{
    const store::TokenRow row{token.id,   token.fingerprint, token.secretHash, token.principal, token.roles.bits(),
                              token.name, token.createdAt,   token.expiresAt,  token.revokedAt};
    return m_database.write([&](store::Connection& connection) { return store::TokenTable(connection).insert(row); });
}

Result<std::optional<auth::StoredToken>> StoredTokens::findBySecretHash(const Digest& secretHash)
{
    return tokenOf(m_database.read(
        [&](store::Connection& connection) { return store::TokenTable(connection).findBySecretHash(secretHash); }));
}

Result<std::optional<auth::StoredToken>> StoredTokens::find(std::string_view id)
{
    return tokenOf(
        m_database.read([&](store::Connection& connection) { return store::TokenTable(connection).find(id); }));
}

Result<std::vector<auth::StoredToken>> StoredTokens::list(std::string_view afterId, std::uint32_t limit)
{
    auto rows = m_database.read(
        [&](store::Connection& connection) { return store::TokenTable(connection).list(afterId, limit); });
    if (!rows)
        return forward(rows);
    std::vector<auth::StoredToken> out;
    for (store::TokenRow& row : *rows)
        out.push_back(tokenOf(std::move(row)));
    return out;
}

Result<bool> StoredTokens::revoke(std::string_view id, Timestamp now)
{
    return m_database.write(
        [&](store::Connection& connection) { return store::TokenTable(connection).revoke(id, now); });
}

} // namespace assay::api
