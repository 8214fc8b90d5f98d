// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/error.h"

#include <map>
#include <string>
#include <string_view>

namespace assay::auth {

/// A scope's key-value pairs, as a token's binding or a trusted ingress names them (docs/scopes.md). They end here:
/// everything behind sees the fingerprint only.
using ScopePairs = std::map<std::string, std::string>;

inline constexpr std::size_t kMaxScopePairs = 16;
inline constexpr std::size_t kMaxScopeKeyBytes = 128;
inline constexpr std::size_t kMaxScopeValueBytes = 1024;

/// "sc_" and the first 32 hex digits of SHA-256 over the canonical JSON (RFC 8785) object of the pairs. Keys and values
/// are compared byte for byte: nothing is normalized. `InvalidArgument` for no pair, more than 16, an empty or too long
/// key, a too long value, or bytes that are not UTF-8. Pure.
Result<std::string> scopeFingerprint(const ScopePairs& pairs);

/// The `Assay-Scope` header of a trusted ingress: base64url of a JSON object of strings. `InvalidArgument` otherwise.
Result<ScopePairs> readScopeHeader(std::string_view header);

} // namespace assay::auth
