// SPDX-License-Identifier: Apache-2.0
#include "server/store/idempotency_table.h"

namespace assay::store {

Result<std::optional<IdempotencyRow>> IdempotencyTable::find(std::string_view fingerprint, std::string_view route,
                                                             std::string_view key, Timestamp now)
{
    auto query = m_connection.prepare("SELECT request_sha256, status, headers, body, created_at, expires_at"
                                      " FROM idempotency WHERE fingerprint = ? AND route = ? AND key = ?"
                                      " AND expires_at > ?");
    if (!query)
        return forward(query);
    query->bind(fingerprint).bind(route).bind(key).bind(now);
    const auto found = query->step();
    if (!found)
        return std::unexpected(found.error());
    if (!*found)
        return std::nullopt;
    auto digest = Digest::fromBytes(query->blob(0));
    if (!digest)
        return fail(ErrorCode::Internal, "a kept answer is damaged", "idempotency: digest of a wrong length");
    IdempotencyRow row;
    row.route = route;
    row.key = key;
    row.requestDigest = *digest;
    row.status = static_cast<int>(query->integer(1));
    row.headers = query->text(2);
    row.body = query->blob(3);
    row.createdAt = query->timestamp(4);
    row.expiresAt = query->timestamp(5);
    return row;
}

Result<bool> IdempotencyTable::insert(std::string_view fingerprint, const IdempotencyRow& row)
{
    auto query = m_connection.prepare(
        "INSERT INTO idempotency(fingerprint, route, key, request_sha256, status, headers, body, created_at,"
        " expires_at) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT(fingerprint, route, key) DO UPDATE SET"
        " request_sha256 = excluded.request_sha256, status = excluded.status, headers = excluded.headers,"
        " body = excluded.body, created_at = excluded.created_at, expires_at = excluded.expires_at"
        " WHERE idempotency.expires_at <= excluded.created_at");
    if (!query)
        return forward(query);
    query->bind(fingerprint).bind(row.route).bind(row.key).bindBlob(row.requestDigest.bytes());
    query->bind(std::int64_t{row.status}).bind(row.headers).bindBlob(row.body).bind(row.createdAt).bind(row.expiresAt);
    if (auto done = query->run(); !done)
        return forward(done);
    return m_connection.changes() > 0;
}

Result<bool> IdempotencyTable::complete(std::string_view fingerprint, const IdempotencyRow& row)
{
    auto query = m_connection.prepare("UPDATE idempotency SET status = ?, headers = ?, body = ?, expires_at = ?"
                                      " WHERE fingerprint = ? AND route = ? AND key = ? AND status = 0");
    if (!query)
        return forward(query);
    query->bind(std::int64_t{row.status}).bind(row.headers).bindBlob(row.body).bind(row.expiresAt);
    if (auto done = query->bind(fingerprint).bind(row.route).bind(row.key).run(); !done)
        return forward(done);
    return m_connection.changes() > 0;
}

Result<void> IdempotencyTable::removeBegun(std::string_view fingerprint, std::string_view route, std::string_view key)
{
    auto query = m_connection.prepare("DELETE FROM idempotency WHERE fingerprint = ? AND route = ? AND key = ?"
                                      " AND status = 0");
    if (!query)
        return forward(query);
    return query->bind(fingerprint).bind(route).bind(key).run();
}

Result<std::int64_t> IdempotencyTable::removeExpired(Timestamp now, std::uint32_t limit)
{
    auto query = m_connection.prepare("DELETE FROM idempotency WHERE rowid IN"
                                      " (SELECT rowid FROM idempotency WHERE expires_at <= ? LIMIT ?)");
    if (!query)
        return forward(query);
    query->bind(now).bind(std::int64_t{limit});
    if (auto done = query->run(); !done)
        return forward(done);
    return m_connection.changes();
}

Result<IdempotencyTable::Expired> IdempotencyTable::countExpired(Timestamp now)
{
    auto query = m_connection.prepare("SELECT count(*), coalesce(sum(length(body)), 0) FROM idempotency"
                                      " WHERE expires_at <= ?");
    if (!query)
        return forward(query);
    const auto row = query->bind(now).step();
    if (!row)
        return std::unexpected(row.error());
    return Expired{static_cast<std::uint64_t>(query->integer(0)), static_cast<std::uint64_t>(query->integer(1))};
}

} // namespace assay::store
