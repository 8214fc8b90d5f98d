// SPDX-License-Identifier: Apache-2.0
#include "server/http/request_target.h"

#include "server/core/text.h"

#include <algorithm>

namespace assay::http {

namespace {

constexpr std::size_t kMaxQueryParameters = 64;

std::unexpected<Error> invalid(std::string_view why)
{
    return fail(ErrorCode::InvalidArgument, "the request target is refused: " + std::string(why));
}

int hexValue(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

enum class Plus : std::uint8_t { IsPlus, IsSpace };

Result<std::string> decode(std::string_view text, Plus plus)
{
    std::string out;
    out.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%') {
            out += text[i] == '+' && plus == Plus::IsSpace ? ' ' : text[i];
            continue;
        }
        const int high = i + 2 < text.size() ? hexValue(text[i + 1]) : -1;
        const int low = i + 2 < text.size() ? hexValue(text[i + 2]) : -1;
        if (high < 0 || low < 0)
            return invalid("a percent sign is not followed by two hex digits");
        out += static_cast<char>(high * 16 + low);
        i += 2;
    }
    if (out.contains('\0'))
        return invalid("it holds an encoded NUL");
    if (!isUtf8(out))
        return invalid("its percent escapes are not UTF-8");
    return out;
}

Result<std::vector<std::string>> parsePath(std::string_view path)
{
    std::vector<std::string> segments;
    if (path == "/")
        return segments;
    while (!path.empty()) {
        path.remove_prefix(1); // the slash
        const auto end = std::min(path.find('/'), path.size());
        auto segment = decode(path.substr(0, end), Plus::IsPlus);
        if (!segment)
            return forward(segment);
        if (segment->empty() || *segment == "." || *segment == "..")
            return invalid("it has an empty or a dot segment");
        segments.push_back(std::move(*segment));
        path.remove_prefix(end);
    }
    return segments;
}

Result<std::vector<std::pair<std::string, std::string>>> parseQuery(std::string_view query)
{
    std::vector<std::pair<std::string, std::string>> out;
    while (!query.empty()) {
        const auto end = std::min(query.find('&'), query.size());
        const auto pair = query.substr(0, end);
        query.remove_prefix(std::min(end + 1, query.size()));
        if (pair.empty())
            continue;
        if (out.size() == kMaxQueryParameters)
            return invalid("it has more than 64 query parameters");
        const auto equals = std::min(pair.find('='), pair.size());
        auto name = decode(pair.substr(0, equals), Plus::IsSpace);
        auto value = decode(pair.substr(std::min(equals + 1, pair.size())), Plus::IsSpace);
        if (!name || !value)
            return forward(name ? value : name);
        out.emplace_back(std::move(*name), std::move(*value));
    }
    return out;
}

bool equalsIgnoringCase(std::string_view a, std::string_view b)
{
    return std::ranges::equal(a, b, [](char x, char y) {
        const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
        return lower(x) == lower(y);
    });
}

/// Cuts `http://authority` off an absolute form.
Result<std::string_view> toOriginForm(std::string_view target, std::string_view host)
{
    if (target.starts_with('/'))
        return target;
    const std::size_t scheme = target.starts_with("http://") ? 7 : target.starts_with("https://") ? 8 : 0;
    if (scheme == 0)
        return invalid("it is neither a path nor an http address");
    const auto rest = target.substr(scheme);
    const auto end = std::min(rest.find_first_of("/?#"), rest.size());
    if (!equalsIgnoringCase(rest.substr(0, end), host))
        return invalid("its authority is not the Host field");
    return end == rest.size() ? std::string_view("/") : rest.substr(end);
}

} // namespace

Result<RequestTarget> parseTarget(std::string_view target, std::string_view host)
{
    auto origin = toOriginForm(target, host);
    if (!origin)
        return forward(origin);
    if (origin->contains('#'))
        return invalid("it holds a fragment");
    const auto question = std::min(origin->find('?'), origin->size());
    const auto path = origin->substr(0, question);
    auto segments = parsePath(path.empty() ? "/" : path);
    if (!segments)
        return forward(segments);
    auto query = parseQuery(origin->substr(std::min(question + 1, origin->size())));
    if (!query)
        return forward(query);
    return RequestTarget{std::move(*segments), std::move(*query)};
}

} // namespace assay::http
