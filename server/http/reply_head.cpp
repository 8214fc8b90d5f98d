// SPDX-License-Identifier: Apache-2.0
#include "server/http/reply_head.h"

#include "server/http/head_scan.h"

#include <algorithm>
#include <array>
#include <boost/beast/http/status.hpp>
#include <ctime>
#include <string>
#include <string_view>

namespace assay::http {

namespace {

/// IMF-fixdate (RFC 9110, 5.6.7), made once a second and thread.
std::string_view httpDate()
{
    thread_local std::time_t made = 0;
    thread_local std::array<char, 32> text{};
    const std::time_t now = std::time(nullptr);
    if (now != made) {
        std::tm utc{};
        ::gmtime_r(&now, &utc);
        std::strftime(text.data(), text.size(), "%a, %d %b %Y %H:%M:%S GMT", &utc);
        made = now;
    }
    return text.data();
}

std::string_view reasonOf(int status)
{
    if (status == 499)
        return "Client Closed Request";
    const auto reason = boost::beast::http::obsolete_reason(static_cast<boost::beast::http::status>(status));
    return {reason.data(), reason.size()};
}

bool isSafe(std::string_view name, std::string_view value)
{
    const bool token = !name.empty() && std::ranges::all_of(name, isTokenChar);
    return token && std::ranges::none_of(value, [](char c) {
               const auto byte = static_cast<unsigned char>(c);
               return (byte < 0x20 && byte != '\t') || byte == 0x7f;
           });
}

bool equalsIgnoringCase(std::string_view a, std::string_view b)
{
    return std::ranges::equal(a, b, [](char x, char y) { return (x | 0x20) == (y | 0x20); });
}

void addField(std::string& out, std::string_view name, std::string_view value)
{
    out.append(name).append(": ").append(value).append("\r\n");
}

void addFraming(std::string& out, int status, const ReplyFraming& framing)
{
    if (framing.framing == Framing::Chunked)
        addField(out, "Transfer-Encoding", "chunked");
    else if (framing.framing == Framing::Length && !hasNoBody(status))
        addField(out, "Content-Length", std::to_string(framing.length));
    if (framing.close)
        addField(out, "Connection", "close");
    else if (framing.isHttp10)
        addField(out, "Connection", "keep-alive");
}

} // namespace

bool hasNoBody(int status) { return status < 200 || status == 204 || status == 304; }

std::string replyHead(const api::Reply& reply, const ReplyFraming& framing)
{
    std::string out;
    out.reserve(512);
    out.append("HTTP/1.1 ").append(std::to_string(reply.status)).append(" ").append(reasonOf(reply.status));
    out.append("\r\n");
    addField(out, "Server", "assay");
    addField(out, "Date", httpDate());
    bool cacheSaid = false;
    for (const auto& [name, value] : reply.headers) {
        if (!isSafe(name, value))
            continue;
        addField(out, name, value);
        cacheSaid = cacheSaid || equalsIgnoringCase(name, "cache-control");
    }
    if (!cacheSaid)
        addField(out, "Cache-Control", "no-store");
    addField(out, "X-Content-Type-Options", "nosniff");
    if (!framing.requestId.empty())
        addField(out, "Assay-Request-Id", framing.requestId);
    addFraming(out, reply.status, framing);
    out.append("\r\n");
    return out;
}

} // namespace assay::http
