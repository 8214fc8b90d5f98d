// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/digest.h"

#include <optional>
#include <string>
#include <string_view>

namespace assay::auth {

/// A new bearer secret: "assay_" and base64url of 32 random bytes (256 bits). Shown once, never stored.
std::string newTokenSecret();

/// What is stored and looked up: SHA-256 of the secret. A slow hash would add nothing to 256 random bits.
Digest tokenHash(std::string_view secret);

/// The token of an `Authorization: Bearer` field (RFC 6750; the scheme in any case); empty for anything else. The view
/// points into `header`.
std::optional<std::string_view> bearerToken(std::string_view header);

} // namespace assay::auth
