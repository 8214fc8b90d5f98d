// SPDX-License-Identifier: Apache-2.0
#include "server/api/request.h"

#include "server/api/etag.h"

#include <algorithm>
#include <charconv>

namespace assay::api {

namespace {

constexpr std::uint64_t kMaxPageSize = 200;
constexpr std::size_t kMaxPageTokenBytes = 512;
constexpr std::size_t kMaxKeyBytes = 128;

} // namespace

std::unexpected<Error> badQuery(std::string_view name, std::string message)
{
    return fail(ErrorCode::InvalidArgument, "query parameter \"" + std::string(name) + "\": " + std::move(message));
}

std::optional<std::uint64_t> readDecimal(std::string_view text)
{
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || error != std::errc{} || end != text.data() + text.size())
        return std::nullopt;
    return value;
}

std::optional<std::string> Request::queryValue(std::string_view name) const
{
    const auto found = query.find(name);
    return found == query.end() ? std::nullopt : std::optional(found->second);
}

Result<contract::PageRequest> pageOf(const Request& request)
{
    contract::PageRequest page;
    if (const auto size = request.queryValue("page_size")) {
        const auto number = readDecimal(*size);
        if (!number || *number < 1 || *number > kMaxPageSize)
            return badQuery("page_size", "this must be a whole number from 1 to " + std::to_string(kMaxPageSize));
        page.size = static_cast<std::uint32_t>(*number);
    }
    auto token = queryText(request, "page_token", kMaxPageTokenBytes);
    if (!token)
        return forward(token);
    page.token = std::move(*token);
    return page;
}

Result<std::optional<bool>> queryFlag(const Request& request, std::string_view name)
{
    const auto value = request.queryValue(name);
    if (!value)
        return std::optional<bool>{};
    if (*value != "true" && *value != "false")
        return badQuery(name, "this must be true or false");
    return std::optional(*value == "true");
}

Result<std::string> queryChoice(const Request& request, std::string_view name,
                                std::span<const std::string_view> choices)
{
    auto value = request.queryValue(name);
    if (!value)
        return std::string();
    if (std::ranges::contains(choices, std::string_view(*value)))
        return std::move(*value);
    std::string listed;
    for (const std::string_view choice : choices)
        listed += (listed.empty() ? "" : ", ") + std::string(choice);
    return badQuery(name, "this must be one of " + listed);
}

Result<std::string> queryText(const Request& request, std::string_view name, std::size_t maxBytes)
{
    auto value = request.queryValue(name);
    if (value && value->size() > maxBytes)
        return badQuery(name, "this has " + std::to_string(value->size()) + " bytes; at most " +
                                  std::to_string(maxBytes) + " are allowed");
    return std::move(value).value_or("");
}

Result<std::optional<Timestamp>> queryTime(const Request& request, std::string_view name)
{
    const auto value = request.queryValue(name);
    if (!value)
        return std::optional<Timestamp>{};
    const auto time = parseTimestamp(*value);
    if (!time)
        return badQuery(name, "this must be a time as in 2026-11-30T12:00:00.000Z (RFC 3339)");
    return std::optional(*time);
}

Result<std::optional<std::string>> ifMatch(const Request& request)
{
    return readIfMatch(request.head.header("if-match"));
}

Result<std::uint64_t> lastEventId(const Request& request)
{
    const std::string_view header = request.head.header("last-event-id");
    if (header.empty())
        return std::uint64_t{0};
    const auto id = readDecimal(header);
    if (!id)
        return fail(ErrorCode::InvalidArgument, "Last-Event-ID must be the id of an event of this stream");
    return *id;
}

Result<std::optional<std::string>> readIdempotencyKey(const RequestHead& head)
{
    const auto found = head.headers.find(std::string_view("idempotency-key"));
    if (found == head.headers.end())
        return std::optional<std::string>{};
    const std::string& key = found->second;
    const bool isPrintable = std::ranges::all_of(key, [](char c) { return c >= ' ' && c < 0x7f; });
    if (key.empty() || key.size() > kMaxKeyBytes || !isPrintable)
        return fail(ErrorCode::InvalidArgument, "Idempotency-Key takes 1 to 128 printable ASCII characters");
    return std::optional(key);
}

Result<json::value> jsonBody(const Request& request) { return parseJson(request.body.bytes); }

Result<json::value> optionalBody(const Request& request)
{
    if (request.body.bytes.empty())
        return json::value(json::object());
    return jsonBody(request);
}

Result<void> emptyBody(const Request& request)
{
    if (request.body.bytes.empty())
        return {};
    auto body = jsonBody(request);
    if (!body)
        return forward(body);
    if (!body->is_object() || !body->get_object().empty())
        return fail(ErrorCode::InvalidArgument, "this operation takes no body");
    return {};
}

} // namespace assay::api
