// SPDX-License-Identifier: Apache-2.0
#include "app/cli/api_client.h"

#include "app/cli/json_fields.h"
#include "server/core/digest.h"
#include "server/core/random.h"

#include <thread>

namespace assay::cli {

namespace {

using namespace std::chrono_literals;

constexpr unsigned kStreamTries = 8;
constexpr std::chrono::milliseconds kStreamSilence{45'000}; // the server sends a comment every 15 s
constexpr std::uint64_t kJsonBytes = 64ULL << 20;

void appendEncoded(std::string& out, std::string_view text)
{
    constexpr std::string_view kPlain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
    constexpr std::string_view kHex = "0123456789ABCDEF";
    for (const char c : text) {
        if (kPlain.contains(c)) {
            out += c;
            continue;
        }
        const auto byte = static_cast<unsigned char>(c);
        (out += '%') += kHex[byte >> 4];
        out += kHex[byte & 15];
    }
}

ErrorCode codeOfStatus(int status)
{
    for (int value = 0; value <= static_cast<int>(ErrorCode::Timeout); ++value)
        if (traits(static_cast<ErrorCode>(value)).httpStatus == status)
            return static_cast<ErrorCode>(value);
    return status >= 500 ? ErrorCode::Internal : ErrorCode::InvalidArgument;
}

Problem problemOf(const json::value& value)
{
    const auto number = [&](std::string_view name) -> std::optional<std::uint32_t> {
        const std::uint64_t found = numberOf(value, name);
        return found > 0 && found <= UINT32_MAX ? std::optional(static_cast<std::uint32_t>(found)) : std::nullopt;
    };
    return {textOf(value, "code"), textOf(value, "message"), textOf(value, "path"),  textOf(value, "pointer"),
            number("line"),        number("column"),         textOf(value, "client")};
}

Result<json::value> parseBody(const HttpResponse& response)
{
    if (response.body.empty())
        return json::value(nullptr);
    auto parsed = parseJson(response.body);
    if (!parsed)
        return fail(ErrorCode::Internal,
                    "the server's answer is not JSON; is ASSAY_URL the address of an Assay server?");
    return parsed;
}

} // namespace

std::string pathOf(std::initializer_list<std::string_view> segments)
{
    std::string out;
    for (const std::string_view segment : segments) {
        out += '/';
        appendEncoded(out, segment);
    }
    return out;
}

std::string queryOf(const std::vector<std::pair<std::string, std::string>>& pairs)
{
    std::string out;
    for (const auto& [name, value] : pairs) {
        if (value.empty())
            continue;
        out += out.empty() ? '?' : '&';
        appendEncoded(out, name);
        out += '=';
        appendEncoded(out, value);
    }
    return out;
}

Error problemError(const HttpResponse& response)
{
    Error out;
    out.code = codeOfStatus(response.status);
    auto parsed = parseJson(response.body);
    if (!parsed || !parsed->is_object()) {
        out.message = "the server answered with status " + std::to_string(response.status);
        return out;
    }
    if (const auto named = errorCodeNamed(textOf(*parsed, "code"));
        named && traits(*named).httpStatus == response.status)
        out.code = *named;
    out.message = textOf(*parsed, "detail");
    if (out.message.empty())
        out.message = textOf(*parsed, "title");
    if (out.message.empty())
        out.message = "the server answered with status " + std::to_string(response.status);
    out.reason = textOf(*parsed, "reason");
    for (const json::value& one : itemsOf(*parsed, "errors"))
        out.problems.push_back(problemOf(one));
    return out;
}

Result<Answer> ApiClient::send(HttpRequest request, const HttpClient::Progress& progress)
{
    request.limitBytes = kJsonBytes;
    auto response = m_http.send(request, progress);
    if (!response)
        return forward(response);
    if (response->status < 200 || response->status >= 300)
        return std::unexpected(problemError(*response));
    auto body = parseBody(*response);
    if (!body)
        return forward(body);
    return Answer{response->status, std::move(*body), response->header("etag")};
}

Result<Answer> ApiClient::get(const std::string& target)
{
    HttpRequest request;
    request.target = target;
    return send(std::move(request));
}

Result<Answer> ApiClient::post(const std::string& target, const json::value& body, std::chrono::milliseconds timeout)
{
    const std::string text = json::serialize(body);
    HttpRequest request;
    request.method = "POST";
    request.target = target;
    request.contentType = "application/json";
    request.body = text;
    request.timeout = timeout;
    request.headers.emplace_back("Idempotency-Key", toHex(randomBytes(16)));
    return send(std::move(request));
}

Result<HttpResponse> ApiClient::download(const std::string& target, std::uint64_t limitBytes)
{
    HttpRequest request;
    request.target = target;
    request.limitBytes = limitBytes;
    request.timeout = 600s;
    auto response = m_http.send(request);
    if (response && (response->status < 200 || response->status >= 300))
        return std::unexpected(problemError(*response));
    return response;
}

Result<json::object> ApiClient::list(const std::string& path,
                                     const std::vector<std::pair<std::string, std::string>>& query, std::uint64_t limit)
{
    json::array items;
    std::string token;
    do {
        auto page = query;
        page.emplace_back("page_size", std::to_string(std::clamp<std::size_t>(limit - items.size(), 1, 200)));
        page.emplace_back("page_token", token);
        auto answer = get(path + queryOf(page));
        if (!answer)
            return forward(answer);
        for (const json::value& item : itemsOf(answer->body, "items"))
            items.push_back(item);
        token = textOf(answer->body, "next_page_token");
    } while (!token.empty() && items.size() < limit);
    json::object out{{"items", std::move(items)}};
    if (!token.empty())
        out["next_page_token"] = token;
    return out;
}

Result<bool> ApiClient::streamOnce(const std::string& target, EventStreamReader& reader, bool& progressed,
                                   const std::function<bool(const StreamEvent&)>& each)
{
    HttpRequest request;
    request.target = target;
    request.timeout = kStreamSilence;
    request.headers.emplace_back("Accept", "text/event-stream");
    if (!reader.lastId().empty())
        request.headers.emplace_back("Last-Event-ID", reader.lastId());
    Result<bool> wants = true;
    auto response = m_http.stream(request, [&](std::string_view bytes) {
        progressed = true;
        wants = reader.feed(bytes, each);
        return wants && *wants;
    });
    if (!wants)
        return wants;
    if (!response)
        return forward(response);
    if (response->status < 200 || response->status >= 300)
        return std::unexpected(problemError(*response));
    return wants;
}

Result<void> ApiClient::events(const std::string& target, const std::function<bool(const StreamEvent&)>& each)
{
    EventStreamReader reader;
    for (unsigned tries = 0;;) {
        bool progressed = false;
        auto ended = streamOnce(target, reader, progressed, each);
        if (ended && (!*ended || !progressed))
            return {};
        if (ended) { // the server was stopped: what comes after the last event may be there now
            tries = 0;
            continue;
        }
        const bool broke = ended.error().code == ErrorCode::Unavailable || ended.error().code == ErrorCode::Timeout;
        tries = progressed ? 1 : tries + 1;
        if (!broke || tries >= kStreamTries)
            return forward(ended);
        reader.restart();
        std::this_thread::sleep_for(std::min(100ms * (1 << std::min(tries, 4U)), 1500ms));
    }
}

} // namespace assay::cli
