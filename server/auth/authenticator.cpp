// SPDX-License-Identifier: Apache-2.0
#include "server/auth/authenticator.h"

#include "server/auth/principal.h"
#include "server/auth/roles.h"
#include "server/auth/scope.h"
#include "server/auth/token_secret.h"

namespace assay::auth {

namespace {

std::unexpected<Error> unauthenticated()
{
    return fail(ErrorCode::Unauthenticated, "send a valid token as \"Authorization: Bearer TOKEN\"");
}

std::unexpected<Error> badField(std::string message) { return fail(ErrorCode::InvalidArgument, std::move(message)); }

} // namespace

Result<Identity> Authenticator::fromBearer(std::string_view authorizationHeader)
{
    const auto token = bearerToken(authorizationHeader);
    if (!token)
        return unauthenticated();
    const Digest hash = tokenHash(*token);
    std::optional<Entry> entry = cached(hash);
    if (!entry) {
        const std::uint64_t before = generation();
        auto found = look(hash);
        if (!found)
            return forward(found);
        if (!*found)
            return unauthenticated();
        entry = std::move(*found);
        remember(hash, *entry, before);
    }
    if (entry->expiresAt && *entry->expiresAt <= m_clock.now())
        return unauthenticated();
    return std::move(entry->identity);
}

Result<std::optional<Authenticator::Entry>> Authenticator::look(const Digest& hash)
{
    auto row = m_tokens.findBySecretHash(hash);
    if (!row)
        return forward(row);
    const bool isValid = *row && !(*row)->revokedAt && equalInConstantTime((*row)->secretHash.bytes(), hash.bytes());
    if (!isValid)
        return std::optional<Entry>{};
    StoredToken& token = **row;
    return Entry{{std::move(token.fingerprint), std::move(token.principal), std::move(token.id), token.roles},
                 token.expiresAt};
}

std::optional<Authenticator::Entry> Authenticator::cached(const Digest& hash)
{
    const std::lock_guard lock(m_mutex);
    const auto found = m_cache.find(hash);
    return found == m_cache.end() ? std::nullopt : std::optional(found->second);
}

std::uint64_t Authenticator::generation()
{
    const std::lock_guard lock(m_mutex);
    return m_generation;
}

void Authenticator::remember(const Digest& hash, const Entry& entry, std::uint64_t generation)
{
    const std::lock_guard lock(m_mutex);
    if (generation != m_generation)
        return; // a revocation came between: what was read may be what it revoked
    if (m_cache.size() >= kCacheEntries)
        m_cache.erase(m_cache.begin()); // hashes are random, so this one is as good as any
    m_cache.insert_or_assign(hash, entry);
}

void Authenticator::forgetTokens()
{
    const std::lock_guard lock(m_mutex);
    ++m_generation;
    m_cache.clear();
}

Result<Identity> Authenticator::fromIngress(const IngressFields& fields)
{
    if (!fields.scope || !fields.principal || !fields.roles)
        return badField("a trusted ingress sends Assay-Scope, Assay-Principal and Assay-Roles together");
    const auto pairs = readScopeHeader(*fields.scope);
    if (!pairs)
        return std::unexpected(pairs.error());
    auto fingerprint = scopeFingerprint(*pairs);
    if (!fingerprint)
        return badField("Assay-Scope: " + fingerprint.error().message);
    const auto roles = readRoleList(*fields.roles);
    if (!roles)
        return badField("Assay-Roles: " + roles.error().message);
    if (!isPrincipal(*fields.principal))
        return badField("Assay-Principal must be 1 to 256 bytes of UTF-8 without control characters");
    return Identity{std::move(*fingerprint), std::string(*fields.principal), {}, *roles};
}

} // namespace assay::auth
