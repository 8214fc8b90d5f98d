// SPDX-License-Identifier: Apache-2.0
#include "server/auth/token_secret.h"

#include "server/core/base64.h"
#include "server/core/random.h"

#include <algorithm>

namespace assay::auth {

namespace {

constexpr std::string_view kScheme = "bearer ";
constexpr std::size_t kMaxTokenBytes = 256;

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool isTokenCharacter(char c) { return c > ' ' && c < 0x7f; }

} // namespace

std::string newTokenSecret() { return "assay_" + toBase64Url(randomBytes(32)); }

Digest tokenHash(std::string_view secret) { return Digest::ofBytes(secret); }

std::optional<std::string_view> bearerToken(std::string_view header)
{
    if (header.size() <= kScheme.size() || !std::ranges::equal(header.substr(0, kScheme.size()), kScheme, {}, lower))
        return std::nullopt;
    const std::string_view token = header.substr(kScheme.size());
    if (token.size() > kMaxTokenBytes || !std::ranges::all_of(token, isTokenCharacter))
        return std::nullopt;
    return token;
}

} // namespace assay::auth
