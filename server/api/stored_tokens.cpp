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

/// Tokens are the server's: whichever scope the operator's own token has, this stands in the server's chain.
audit::Record changeOf(const auth::Identity& by, audit::Operation operation, std::string_view id)
{
    auto out = audit::recordBy(by, operation, audit::Decision::Allowed, audit::ResourceType::Token, std::string(id));
    out.scopeFingerprint.clear();
    return out;
}

} // namespace

Result<void> StoredTokens::insert(const auth::StoredToken& token, const auth::Identity& by)
{
    const store::TokenRow row{token.id,   token.fingerprint, token.secretHash, token.principal, token.roles.bits(),
                              token.name, token.createdAt,   token.expiresAt,  token.revokedAt};
    return m_database.write([&](store::Connection& connection) -> Result<void> {
        if (auto inserted = store::TokenTable(connection).insert(row); !inserted)
            return inserted;
        return m_ledger.append(connection, changeOf(by, audit::Operation::TokenCreate, token.id));
    });
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

Result<bool> StoredTokens::revoke(std::string_view id, Timestamp now, const auth::Identity& by)
{
    return m_database.write([&](store::Connection& connection) -> Result<bool> {
        auto found = store::TokenTable(connection).revoke(id, now);
        if (!found || !*found)
            return found;
        auto added = m_ledger.append(connection, changeOf(by, audit::Operation::TokenRevoke, id));
        return added ? std::move(found) : Result<bool>(forward(added));
    });
}

} // namespace assay::api
