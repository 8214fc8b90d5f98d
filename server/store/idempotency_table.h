// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/clock.h"
#include "server/core/digest.h"
#include "server/store/connection.h"

namespace assay::store {

/// The kept answer of one request that carried an `Idempotency-Key`.
struct IdempotencyRow
{
    std::string route; ///< method and route template, e.g. "POST /v1/skills"
    std::string key;
    Digest requestDigest; ///< of the body's bytes
    int status = 0;       ///< 0: the request was begun, and its answer is not known
    std::string headers;  ///< JSON, as the caller wrote it
    std::string body;
    Timestamp createdAt;
    Timestamp expiresAt;
};

/// The SQL of the table `idempotency`, keyed by scope, route and key. Confined to its connection.
class IdempotencyTable
{
public:
    explicit IdempotencyTable(Connection& connection) : m_connection(connection) {}

    /// An expired row is like none.
    Result<std::optional<IdempotencyRow>> find(std::string_view fingerprint, std::string_view route,
                                               std::string_view key, Timestamp now);
    /// False, changing nothing, when a row that has not expired at `row.createdAt` holds the key.
    Result<bool> insert(std::string_view fingerprint, const IdempotencyRow& row);
    /// Replaces a begun row by its answer. False when there is no begun row of the key.
    Result<bool> complete(std::string_view fingerprint, const IdempotencyRow& row);
    /// Removes a begun row: the same request may be asked anew.
    Result<void> removeBegun(std::string_view fingerprint, std::string_view route, std::string_view key);
    /// Removes at most `limit` expired rows of any scope; the number removed.
    Result<std::int64_t> removeExpired(Timestamp now, std::uint32_t limit);
    /// How many rows of any scope are expired, and the bytes of their answers.
    struct Expired
    {
        std::uint64_t count = 0;
        std::uint64_t bytes = 0;
    };
    Result<Expired> countExpired(Timestamp now);

private:
    Connection& m_connection;
};

} // namespace assay::store
