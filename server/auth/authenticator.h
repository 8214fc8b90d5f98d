// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/auth/identity.h"
#include "server/auth/token_store.h"

#include <map>
#include <mutex>
#include <optional>

namespace assay::auth {

/// The fields a trusted ingress sends in place of a token; absent ones are empty.
struct IngressFields
{
    std::optional<std::string_view> scope;     ///< `Assay-Scope`
    std::optional<std::string_view> principal; ///< `Assay-Principal`
    std::optional<std::string_view> roles;     ///< `Assay-Roles`
};

/// The one place that makes an `Identity`. Does: read tokens and ingress fields, keep a small cache of tokens. Does
/// not: judge roles. Thread-safe; `fromBearer` may read the store.
class Authenticator
{
public:
    static constexpr std::size_t kCacheEntries = 1024;

    Authenticator(TokenStore& tokens, const Clock& clock) : m_tokens(tokens), m_clock(clock) {}

    /// `Unauthenticated`, always with the same words, for a missing, malformed, unknown, expired or revoked token.
    Result<Identity> fromBearer(std::string_view authorizationHeader);

    /// `InvalidArgument` names the field that is missing or malformed. Pure.
    static Result<Identity> fromIngress(const IngressFields& fields);

    /// Forgets every cached token: called after a revocation has been committed. A look-up that runs meanwhile is not
    /// cached.
    void forgetTokens();

private:
    struct Entry
    {
        Identity identity;
        std::optional<Timestamp> expiresAt;
    };
    std::optional<Entry> cached(const Digest& hash);
    void remember(const Digest& hash, const Entry& entry, std::uint64_t generation);
    Result<std::optional<Entry>> look(const Digest& hash);
    std::uint64_t generation();

    TokenStore& m_tokens;
    const Clock& m_clock;
    std::mutex m_mutex;
    std::map<Digest, Entry> m_cache;
    std::uint64_t m_generation = 0;
};

} // namespace assay::auth
