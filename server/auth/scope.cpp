// SPDX-License-Identifier: Apache-2.0
#include "server/auth/scope.h"

#include "server/core/base64.h"
#include "server/core/digest.h"
#include "server/core/json.h"
#include "server/core/text.h"

namespace assay::auth {

namespace {

std::string allowed(std::size_t least, std::size_t most)
{
    return std::to_string(least) + " to " + std::to_string(most) + " bytes are allowed";
}

Result<void> judgePair(const std::string& key, const std::string& value)
{
    if (!isUtf8(key) || !isUtf8(value))
        return failAt("/scope", "keys and values of a scope must be UTF-8");
    if (key.empty() || key.size() > kMaxScopeKeyBytes)
        return failAt("/scope", "a key has " + std::to_string(key.size()) + " bytes; " + allowed(1, kMaxScopeKeyBytes));
    if (value.size() > kMaxScopeValueBytes)
        return failAt("/scope",
                      "a value has " + std::to_string(value.size()) + " bytes; " + allowed(0, kMaxScopeValueBytes));
    return {};
}

std::unexpected<Error> malformedHeader()
{
    return fail(ErrorCode::InvalidArgument, "Assay-Scope must be base64url of a JSON object whose members are strings");
}

} // namespace

Result<std::string> scopeFingerprint(const ScopePairs& pairs)
{
    if (pairs.empty() || pairs.size() > kMaxScopePairs)
        return failAt("/scope", "a scope has 1 to " + std::to_string(kMaxScopePairs) + " pairs; this one has " +
                                    std::to_string(pairs.size()));
    json::object object;
    for (const auto& [key, value] : pairs) {
        auto judged = judgePair(key, value);
        if (!judged)
            return forward(judged);
        object[key] = value;
    }
    return "sc_" + Digest::ofBytes(canonicalJson(object)).hex().substr(0, 32);
}

Result<ScopePairs> readScopeHeader(std::string_view header)
{
    const auto text = fromBase64Url(header);
    if (!text)
        return malformedHeader();
    const auto value = parseJson(*text);
    if (!value || !value->is_object())
        return malformedHeader();
    ScopePairs out;
    for (const auto& member : value->get_object()) {
        if (!member.value().is_string())
            return malformedHeader();
        const json::string& content = member.value().get_string();
        out.emplace(std::string(member.key()), std::string(content.data(), content.size()));
    }
    return out;
}

} // namespace assay::auth
