// SPDX-License-Identifier: Apache-2.0
#include "server/api/replies.h"

#include "server/api/etag.h"
#include "server/contract/codec.h"

#include <algorithm>
#include <array>

namespace assay::api {

namespace {

using Headers = std::vector<std::pair<std::string, std::string>>;

Headers baseHeaders(std::string contentType, std::string cacheControl)
{
    return {{"Content-Type", std::move(contentType)}, {"Cache-Control", std::move(cacheControl)}};
}

bool isUnchanged(const Request& request, std::string_view tag)
{
    const bool isRead = request.head.method == Method::Get || request.head.method == Method::Head;
    const std::string_view condition = request.head.header("if-none-match");
    return isRead && !condition.empty() && noneMatchNames(condition, tag);
}

Reply notModified(std::string_view tag, std::string cacheControl)
{
    return {304, {{"Cache-Control", std::move(cacheControl)}, {"ETag", quotedTag(tag)}}, std::string()};
}

bool isUnreserved(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
           c == '.';
}

constexpr std::array<std::string_view, 11> kHarmless{"image/png",  "image/jpeg", "image/gif", "image/webp",
                                                     "image/avif", "image/bmp",  "font/ttf",  "font/otf",
                                                     "font/woff",  "font/woff2", "text/plain"};
constexpr std::array<std::string_view, 4> kTextTypes{"application/json", "application/yaml", "application/toml",
                                                     "application/x-ndjson"};

} // namespace

Reply jsonReply(int status, const json::object& body)
{
    return {status, baseHeaders("application/json", "no-store"), json::serialize(body)};
}

Reply resourceReply(const Request& request, int status, const json::object& body, std::string_view tag)
{
    std::string text = json::serialize(body);
    const std::string own = tag.empty() ? tagOfBody(text) : std::string(tag);
    if (status == 200 && isUnchanged(request, own))
        return notModified(own, "private, no-cache");
    Reply reply{status, baseHeaders("application/json", "private, no-cache"), std::move(text)};
    reply.headers.emplace_back("ETag", quotedTag(own));
    return reply;
}

Reply noContent() { return {204, {{"Cache-Control", "no-store"}}, std::string()}; }

Reply problemReply(const Error& error, std::string_view instance)
{
    Reply reply{traits(error.code).httpStatus, baseHeaders("application/problem+json", "no-store"),
                json::serialize(contract::problemDocument(error, instance))};
    if (error.code == ErrorCode::Unauthenticated)
        reply.headers.emplace_back("WWW-Authenticate", "Bearer");
    if (error.code == ErrorCode::RateLimited || error.code == ErrorCode::Unavailable)
        reply.headers.emplace_back("Retry-After", "1");
    return reply;
}

std::string harmlessMediaType(std::string_view mediaType)
{
    const std::string_view essence = mediaType.substr(0, mediaType.find(';'));
    if (essence.starts_with("text/") || std::ranges::contains(kTextTypes, essence))
        return "text/plain; charset=utf-8";
    return std::ranges::contains(kHarmless, essence) ? std::string(essence) : "application/octet-stream";
}

std::string attachmentHeader(std::string_view fileName)
{
    std::string ascii;
    std::string encoded;
    for (const char c : fileName) {
        ascii += isUnreserved(c) ? c : '_';
        if (isUnreserved(c)) {
            encoded += c;
            continue;
        }
        constexpr std::string_view digits = "0123456789ABCDEF";
        const auto byte = static_cast<unsigned char>(c);
        encoded += '%';
        encoded += digits[byte >> 4];
        encoded += digits[byte & 15];
    }
    return "attachment; filename=\"" + ascii + "\"; filename*=UTF-8''" + encoded;
}

Reply downloadReply(const Request& request, Download download)
{
    std::string cacheControl =
        download.keep == Keep::Forever ? "private, max-age=31536000, immutable" : "private, no-cache";
    if (isUnchanged(request, download.tag))
        return notModified(download.tag, std::move(cacheControl));
    Reply reply{200, baseHeaders(harmlessMediaType(download.mediaType), std::move(cacheControl)), {}};
    reply.headers.emplace_back("ETag", quotedTag(download.tag));
    reply.headers.emplace_back("Content-Disposition", attachmentHeader(download.fileName));
    reply.headers.emplace_back("Content-Security-Policy", "default-src 'none'; sandbox");
    reply.body = std::move(download.bytes);
    return reply;
}

} // namespace assay::api
