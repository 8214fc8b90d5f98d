// SPDX-License-Identifier: Apache-2.0
#include "server/http/request_policy.h"

#include "server/http/head_scan.h"
#include "server/http/request_target.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <string_view>

namespace assay::http {

namespace {

std::unexpected<Error> invalid(std::string message) { return fail(ErrorCode::InvalidArgument, std::move(message)); }

/// Fields that may repeat, and are joined by a comma (RFC 9110, 5.3); all others are refused when they repeat.
bool mayRepeat(std::string_view name)
{
    constexpr std::array<std::string_view, 16> kLists{"link",
                                                      "accept",
                                                      "accept-charset",
                                                      "accept-encoding",
                                                      "accept-language",
                                                      "cache-control",
                                                      "connection",
                                                      "forwarded",
                                                      "pragma",
                                                      "te",
                                                      "trailer",
                                                      "upgrade",
                                                      "via",
                                                      "x-forwarded-for",
                                                      "x-forwarded-proto",
                                                      "warning"};
    return std::ranges::contains(kLists, name);
}

Result<api::Method> methodNamed(std::string_view name)
{
    using enum api::Method;
    constexpr std::array<std::pair<std::string_view, api::Method>, 6> kMethods{
        {{"GET", Get}, {"HEAD", Head}, {"POST", Post}, {"PUT", Put}, {"PATCH", Patch}, {"DELETE", Delete}}};
    for (const auto& [text, method] : kMethods)
        if (text == name)
            return method;
    return fail(ErrorCode::MethodNotAllowed, "the method is not one of GET, HEAD, POST, PUT, PATCH, DELETE");
}

Result<void> collectFields(const WireHead& wire, api::RequestHead& head)
{
    for (const auto& [name, value] : wire.fields) {
        const auto [found, isNew] = head.headers.try_emplace(name, value);
        if (isNew)
            continue;
        if (!mayRepeat(name))
            return invalid("the header field \"" + name + "\" stands there twice");
        found->second += ", " + value;
    }
    return {};
}

std::string lowerCase(std::string_view text)
{
    std::string out(text);
    std::ranges::transform(out, out.begin(),
                           [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    return out;
}

bool hasToken(std::string_view list, std::string_view token)
{
    while (!list.empty()) {
        const auto end = std::min(list.find(','), list.size());
        auto item = list.substr(0, end);
        item.remove_prefix(std::min(item.find_first_not_of(" \t"), item.size()));
        item = item.substr(0, std::min(item.find_last_not_of(" \t") + 1, item.size()));
        if (lowerCase(item) == token)
            return true;
        list.remove_prefix(std::min(end + 1, list.size()));
    }
    return false;
}

Result<void> judgeLength(std::string_view text, api::RequestHead& head)
{
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool digits = !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
    if (!digits || error != std::errc{} || end != text.data() + text.size() || text.size() > 19)
        return invalid("Content-Length is not a number of bytes");
    head.contentLength = value;
    head.hasBody = value > 0;
    return {};
}

Result<void> judgeFraming(JudgedRequest& out)
{
    auto& head = out.head;
    const auto length = head.headers.find("content-length");
    const auto coding = head.headers.find("transfer-encoding");
    if (coding == head.headers.end())
        return length == head.headers.end() ? Result<void>{} : judgeLength(length->second, head);
    if (length != head.headers.end())
        return invalid("a request has Content-Length or Transfer-Encoding, not both");
    if (out.isHttp10)
        return invalid("HTTP/1.0 has no Transfer-Encoding");
    if (lowerCase(coding->second) != "chunked")
        return invalid("the only Transfer-Encoding that is read here is one \"chunked\"");
    out.chunked = true;
    head.hasBody = true;
    return {};
}

bool isHostChar(char c)
{
    const bool alphanumeric = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    return alphanumeric || std::string_view("-._~!$&'()*+,;=:[]%").contains(c);
}

Result<void> judgeHost(const JudgedRequest& request)
{
    const auto host = request.head.headers.find("host");
    if (host == request.head.headers.end())
        return request.isHttp10 ? Result<void>{} : invalid("the Host field is missing");
    if (host->second.empty() || !std::ranges::all_of(host->second, isHostChar))
        return invalid("the Host field is empty or not a host and a port");
    return {};
}

Result<void> judgeExpect(JudgedRequest& request)
{
    const auto expect = request.head.headers.find("expect");
    if (expect == request.head.headers.end())
        return {};
    if (lowerCase(expect->second) != "100-continue")
        return invalid("the only expectation that is met here is 100-continue");
    request.expectContinue = !request.isHttp10 && request.head.hasBody;
    return {};
}

void judgeConnection(JudgedRequest& request)
{
    const auto connection = request.head.header("connection");
    request.keepAlive = request.isHttp10 ? hasToken(connection, "keep-alive") : !hasToken(connection, "close");
}

} // namespace

Result<JudgedRequest> judgeRequest(const WireHead& wire, api::Trust trust, std::size_t maxTargetBytes)
{
    JudgedRequest out;
    out.isHttp10 = wire.minorVersion == 0;
    out.head.trust = trust;
    if (wire.target.size() > maxTargetBytes)
        return fail(ErrorCode::TooLarge,
                    "the request target is longer than " + std::to_string(maxTargetBytes) + " bytes");
    for (auto judged : {collectFields(wire, out.head), judgeFraming(out), judgeHost(out), judgeExpect(out)})
        if (!judged)
            return forward(judged);
    judgeConnection(out);
    auto method = methodNamed(wire.method);
    if (!method)
        return forward(method);
    out.head.method = *method;
    auto target = parseTarget(wire.target, out.head.header("host"));
    if (!target)
        return forward(target);
    out.head.segments = std::move(target->segments);
    out.head.query = std::move(target->query);
    return out;
}

} // namespace assay::http
