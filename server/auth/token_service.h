// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/auth/authenticator.h"
#include "server/contract/page.h"
#include "server/contract/token.h"

namespace assay::auth {

/// Makes, lists and revokes tokens (docs/tokens.md). Acts for the server as a whole: only operators and the local
/// administration get here. Thread-safe; calls block on the store.
class TokenService
{
public:
    TokenService(TokenStore& tokens, Authenticator& authenticator, const Clock& clock)
        : m_tokens(tokens), m_authenticator(authenticator), m_clock(clock)
    {}

    /// The only answer that holds the secret. `InvalidArgument` for a scope, roles, principal or expiry out of bounds.
    Result<contract::CreatedToken> create(const contract::CreateToken& request,
                                          const Identity& by = localAdministration());
    Result<contract::Page<contract::Token>> list(const contract::PageRequest& page);
    Result<contract::Token> find(std::string_view id);
    /// The token is refused from the moment this returns. Revoking twice succeeds; `NotFound` for an unknown id.
    Result<void> revoke(std::string_view id, const Identity& by = localAdministration());

private:
    TokenStore& m_tokens;
    Authenticator& m_authenticator;
    const Clock& m_clock;
};

} // namespace assay::auth
