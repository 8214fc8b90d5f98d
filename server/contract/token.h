// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/clock.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace assay::contract {

/// Body of `POST /v1/tokens`. `scope` is what the token is bound to; a request never names its own.
struct CreateToken
{
    std::string name;
    std::map<std::string, std::string> scope;
    std::vector<std::string> roles; ///< "viewer", "builder", "reviewer", "runner", "operator"
    std::string principal;          ///< who acts; empty: the token's own id
    std::optional<Timestamp> expiresAt;
};

/// A token as it is listed: never its secret, never the raw scope.
struct Token
{
    std::string id;
    std::string name;
    std::string scopeFingerprint;
    std::string principal;
    std::vector<std::string> roles;
    Timestamp createdAt;
    std::optional<Timestamp> expiresAt;
    std::optional<Timestamp> revokedAt;
};

/// The one answer that holds a secret.
struct CreatedToken
{
    Token token;
    std::string secret;
};

} // namespace assay::contract
