// SPDX-License-Identifier: Apache-2.0
#include "server/auth/token_service.h"

#include "server/auth/principal.h"
#include "server/auth/roles.h"
#include "server/auth/scope.h"
#include "server/auth/token_secret.h"
#include "server/core/ids.h"

namespace assay::auth {

namespace {

std::unexpected<Error> noSuchToken() { return fail(ErrorCode::NotFound, "there is no token of this id"); }

contract::Token described(const StoredToken& row)
{
    return {row.id,        row.name,      row.fingerprint, row.principal, roleNames(row.roles),
            row.createdAt, row.expiresAt, row.revokedAt};
}

} // namespace

Result<contract::CreatedToken> TokenService::create(const contract::CreateToken& request, const Identity& by)
{
    auto fingerprint = scopeFingerprint(request.scope);
    if (!fingerprint)
        return forward(fingerprint);
    auto roles = rolesNamed(request.roles);
    if (!roles)
        return forward(roles);
    const Timestamp now = m_clock.now();
    if (request.expiresAt && *request.expiresAt <= now)
        return failAt("/expires_at", "this time has passed already");
    if (!request.principal.empty() && !isPrincipal(request.principal))
        return failAt("/principal", "a principal is 1 to 256 bytes of UTF-8 without control characters");
    const std::string secret = newTokenSecret();
    StoredToken row{newId("tok_", now), *fingerprint, tokenHash(secret), request.principal, *roles,
                    request.name,       now,          request.expiresAt, std::nullopt};
    if (row.principal.empty())
        row.principal = row.id;
    auto stored = m_tokens.insert(row, by);
    if (!stored)
        return forward(stored);
    return contract::CreatedToken{described(row), secret};
}

Result<contract::Page<contract::Token>> TokenService::list(const contract::PageRequest& page)
{
    if (!page.token.empty() && !isId(page.token, "tok_"))
        return failAt("/page_token", "this page token was not given by this list");
    auto rows = m_tokens.list(page.token, page.size + 1);
    if (!rows)
        return forward(rows);
    contract::Page<contract::Token> out;
    const bool hasMore = rows->size() > page.size;
    if (hasMore)
        rows->resize(page.size);
    for (const StoredToken& row : *rows)
        out.items.push_back(described(row));
    if (hasMore)
        out.nextPageToken = rows->back().id;
    return out;
}

Result<contract::Token> TokenService::find(std::string_view id)
{
    if (!isId(id, "tok_"))
        return noSuchToken();
    auto row = m_tokens.find(id);
    if (!row)
        return forward(row);
    if (!*row)
        return noSuchToken();
    return described(**row);
}

Result<void> TokenService::revoke(std::string_view id, const Identity& by)
{
    if (!isId(id, "tok_"))
        return noSuchToken();
    auto found = m_tokens.revoke(id, m_clock.now(), by);
    if (!found)
        return forward(found);
    if (!*found)
        return noSuchToken();
    m_authenticator.forgetTokens();
    return {};
}

} // namespace assay::auth
