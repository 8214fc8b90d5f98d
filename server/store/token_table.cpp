// SPDX-License-Identifier: Apache-2.0
#include "server/store/token_table.h"

#include "server/store/row_list.h"

namespace assay::store {

namespace {

#define ASSAY_TOKEN_COLUMNS                                                                                            \
    "SELECT id, fingerprint, secret_sha256, principal, roles, name, created_at, expires_at, revoked_at FROM tokens "

TokenRow readRow(const Statement& row)
{
    TokenRow out;
    out.id = row.text(0);
    out.fingerprint = row.text(1);
    // A hash of another length matches no secret.
    out.secretHash = Digest::fromBytes(row.blob(2)).value_or(Digest());
    out.principal = row.text(3);
    out.roles = static_cast<std::uint8_t>(row.integer(4));
    out.name = row.text(5);
    out.createdAt = row.timestamp(6);
    out.expiresAt = row.optionalTimestamp(7);
    out.revokedAt = row.optionalTimestamp(8);
    return out;
}

Result<std::optional<TokenRow>> readOne(Statement& query)
{
    const auto row = query.step();
    if (!row)
        return std::unexpected(row.error());
    return *row ? std::optional(readRow(query)) : std::nullopt;
}

} // namespace

Result<void> TokenTable::insert(const TokenRow& row)
{
    auto query = m_connection.prepare(
        "INSERT INTO tokens(id, fingerprint, secret_sha256, principal, roles, name, created_at, expires_at, revoked_at)"
        " VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING");
    if (!query)
        return forward(query);
    query->bind(row.id).bind(row.fingerprint).bindBlob(row.secretHash.bytes()).bind(row.principal);
    query->bind(std::int64_t{row.roles}).bind(row.name).bind(row.createdAt).bind(row.expiresAt).bind(row.revokedAt);
    if (auto done = query->run(); !done)
        return done;
    if (m_connection.changes() == 0)
        return fail(ErrorCode::Conflict, "a token of this id or secret exists");
    return {};
}

Result<std::optional<TokenRow>> TokenTable::findBySecretHash(const Digest& secretHash)
{
    auto query = m_connection.prepare(ASSAY_TOKEN_COLUMNS "WHERE secret_sha256 = ?");
    if (!query)
        return forward(query);
    query->bindBlob(secretHash.bytes());
    return readOne(*query);
}

Result<std::optional<TokenRow>> TokenTable::find(std::string_view id)
{
    auto query = m_connection.prepare(ASSAY_TOKEN_COLUMNS "WHERE id = ?");
    if (!query)
        return forward(query);
    query->bind(id);
    return readOne(*query);
}

Result<std::vector<TokenRow>> TokenTable::list(std::string_view afterId, std::uint32_t limit)
{
    auto query = m_connection.prepare(ASSAY_TOKEN_COLUMNS "WHERE id > ? ORDER BY id LIMIT ?");
    if (!query)
        return forward(query);
    query->bind(afterId).bind(std::int64_t{limit});
    return readRows(*query, readRow);
}

Result<bool> TokenTable::revoke(std::string_view id, Timestamp now)
{
    auto query = m_connection.prepare("UPDATE tokens SET revoked_at = coalesce(revoked_at, ?) WHERE id = ?");
    if (!query)
        return forward(query);
    query->bind(now).bind(id);
    if (auto done = query->run(); !done)
        return forward(done);
    return m_connection.changes() > 0;
}

} // namespace assay::store
