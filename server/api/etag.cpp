// SPDX-License-Identifier: Apache-2.0
#include "server/api/etag.h"

#include "server/core/digest.h"

namespace assay::api {

namespace {

constexpr std::string_view kBlanks = " \t";

std::string_view trimmed(std::string_view text)
{
    const auto first = text.find_first_not_of(kBlanks);
    if (first == std::string_view::npos)
        return {};
    return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

/// What stands between the quotes of one tag; empty when it is not one.
std::optional<std::string_view> unquoted(std::string_view text)
{
    if (text.size() < 2 || !text.starts_with('"') || !text.ends_with('"'))
        return std::nullopt;
    const std::string_view inner = text.substr(1, text.size() - 2);
    return inner.contains('"') ? std::nullopt : std::optional(inner);
}

} // namespace

std::string quotedTag(std::string_view tag) { return "\"" + std::string(tag) + "\""; }

std::string tagOfBody(std::string_view body) { return Digest::ofBytes(body).hex().substr(0, 32); }

Result<std::optional<std::string>> readIfMatch(std::string_view header)
{
    header = trimmed(header);
    if (header.empty())
        return std::optional<std::string>{};
    if (header == "*")
        return std::optional<std::string>("*");
    const bool isWeak = header.starts_with("W/");
    const auto tag = unquoted(isWeak ? header.substr(2) : header);
    if (!tag)
        return fail(ErrorCode::InvalidArgument, "If-Match takes \"*\" or one quoted entity tag");
    return std::optional<std::string>(isWeak ? "W/" + std::string(*tag) : std::string(*tag));
}

bool noneMatchNames(std::string_view header, std::string_view tag)
{
    if (trimmed(header) == "*")
        return true;
    while (!header.empty()) {
        const auto comma = header.find(',');
        std::string_view part = trimmed(header.substr(0, comma));
        if (part.starts_with("W/"))
            part.remove_prefix(2);
        if (unquoted(part) == std::optional(tag))
            return true;
        header = comma == std::string_view::npos ? std::string_view{} : header.substr(comma + 1);
    }
    return false;
}

Result<bool> readCreateOnly(std::string_view header)
{
    header = trimmed(header);
    if (header.empty())
        return false;
    if (header != "*")
        return fail(ErrorCode::InvalidArgument, "If-None-Match takes only \"*\" here: create, never replace");
    return true;
}

} // namespace assay::api
