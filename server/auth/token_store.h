// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/auth/identity.h"
#include "server/core/clock.h"
#include "server/core/digest.h"

#include <optional>
#include <string>
#include <vector>

namespace assay::auth {

/// A token as it is kept: never its secret, only the secret's SHA-256.
struct StoredToken
{
    std::string id; ///< "tok_..."
    std::string fingerprint;
    Digest secretHash;
    std::string principal;
    Roles roles;
    std::string name;
    Timestamp createdAt;
    std::optional<Timestamp> expiresAt;
    std::optional<Timestamp> revokedAt;
};

/// Where tokens are kept: the port that `Authenticator` and `TokenService` need. Thread-safe; calls may block.
class TokenStore
{
public:
    virtual ~TokenStore() = default;
    /// Durable on return, with who did it.
    virtual Result<void> insert(const StoredToken& token, const Identity& by) = 0;
    /// Revoked and expired tokens are found too.
    virtual Result<std::optional<StoredToken>> findBySecretHash(const Digest& secretHash) = 0;
    virtual Result<std::optional<StoredToken>> find(std::string_view id) = 0;
    /// In the order of ids (age), those after `afterId`, at most `limit`.
    virtual Result<std::vector<StoredToken>> list(std::string_view afterId, std::uint32_t limit) = 0;
    /// True when the token exists; one that is revoked keeps its first time. Durable on return.
    virtual Result<bool> revoke(std::string_view id, Timestamp now, const Identity& by) = 0;
};

} // namespace assay::auth
