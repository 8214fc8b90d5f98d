// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/clock.h"
#include "server/core/digest.h"
#include "server/store/connection.h"

#include <vector>

namespace assay::store {

/// A bearer token as it is stored: never its secret, only the secret's SHA-256.
struct TokenRow
{
    std::string id; ///< "tok_..."
    std::string fingerprint;
    Digest secretHash;
    std::string principal;
    std::uint8_t roles = 0; ///< auth::Roles::bits()
    std::string name;
    Timestamp createdAt;
    std::optional<Timestamp> expiresAt;
    std::optional<Timestamp> revokedAt;
};

/// The SQL of the table `tokens`. A token is looked for before its scope is known, and only operators (who act for the
/// server, not for a scope) list and revoke: so these queries alone take no fingerprint. Confined to its connection.
class TokenTable
{
public:
    explicit TokenTable(Connection& connection) : m_connection(connection) {}

    /// `Conflict` when the id or the secret exists.
    Result<void> insert(const TokenRow& row);
    /// Revoked and expired tokens are found too: the caller judges.
    Result<std::optional<TokenRow>> findBySecretHash(const Digest& secretHash);
    Result<std::optional<TokenRow>> find(std::string_view id);
    /// In the order of ids (age), those after `afterId`, at most `limit`.
    Result<std::vector<TokenRow>> list(std::string_view afterId, std::uint32_t limit);
    /// True when the token exists; one that is revoked keeps its first time.
    Result<bool> revoke(std::string_view id, Timestamp now);

private:
    Connection& m_connection;
};

} // namespace assay::store
