// SPDX-License-Identifier: Apache-2.0
// The one file of the command line that includes Beast: it is slow to compile.
#include "app/cli/http_client.h"

#include "app/cli/transport.h"

#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>

namespace assay::cli {

namespace {

namespace beast = boost::beast;
namespace http = boost::beast::http;
namespace asio = boost::asio;

constexpr std::size_t kPiece = 64 << 10;
constexpr std::uint32_t kHeaderBytes = 64 << 10;

/// A Transport as Beast's synchronous read stream. Beast has error codes only, so the last real error is kept here.
class ReadStream
{
public:
    ReadStream(Transport& transport, std::chrono::milliseconds timeout) : m_transport(transport) { restart(timeout); }

    void restart(std::chrono::milliseconds timeout) { m_deadline = std::chrono::steady_clock::now() + timeout; }
    Transport::Deadline deadline() const { return m_deadline; }
    const Error& lastError() const { return m_error; }

    template <typename Buffers> std::size_t read_some(const Buffers& buffers, beast::error_code& code)
    {
        const asio::mutable_buffer first = *asio::buffer_sequence_begin(buffers);
        auto count = m_transport.read(static_cast<char*>(first.data()), first.size(), m_deadline);
        code = {};
        if (!count) {
            m_error = count.error();
            code = asio::error::connection_aborted;
        } else if (*count == 0) {
            code = asio::error::eof;
        }
        return count.value_or(0);
    }
    template <typename Buffers> std::size_t read_some(const Buffers& buffers)
    {
        beast::error_code code;
        return read_some(buffers, code);
    }

private:
    Transport& m_transport;
    Transport::Deadline m_deadline;
    Error m_error{ErrorCode::Unavailable, "the server ended the connection in the middle of its answer", {}, {}, {}};
};

bool isHeaderText(std::string_view text)
{
    return text.find_first_of(std::string_view("\r\n\0", 3)) == std::string_view::npos;
}

Result<std::string> requestHead(const HttpRequest& request, const Settings& settings)
{
    std::string head = request.method + ' ' + request.target + " HTTP/1.1\r\n";
    const auto add = [&](std::string_view name, std::string_view value) {
        head.append(name).append(": ").append(value).append("\r\n");
    };
    add("Host", settings.address.authority());
    add("User-Agent", "assayctl");
    add("Connection", "close");
    if (!settings.token.empty())
        add("Authorization", "Bearer " + settings.token);
    if (!request.contentType.empty()) {
        add("Content-Type", request.contentType);
        add("Content-Length", std::to_string(request.body.size()));
    } else if (request.method != "GET") {
        add("Content-Length", "0");
    }
    for (const auto& [name, value] : request.headers) {
        if (!isHeaderText(value))
            return fail(ErrorCode::InvalidArgument, "the value of " + name + " holds a line break");
        add(name, value);
    }
    if (!isHeaderText(settings.token))
        return fail(ErrorCode::InvalidArgument, "the token holds a line break; read it again from where it was made");
    return head + "\r\n";
}

Result<void> writeAll(Transport& transport, std::string_view bytes, Transport::Deadline deadline,
                      const HttpClient::Progress& progress)
{
    for (std::size_t sent = 0; sent < bytes.size();) {
        auto count = transport.write(bytes.data() + sent, std::min(kPiece, bytes.size() - sent), deadline);
        if (!count)
            return forward(count);
        sent += *count;
        if (progress)
            progress(sent, bytes.size());
    }
    return {};
}

using Parser = http::response_parser<http::buffer_body>;

HttpResponse headOf(const Parser& parser)
{
    HttpResponse out;
    out.status = parser.get().result_int();
    for (const auto& field : parser.get()) {
        std::string name(field.name_string());
        std::ranges::transform(name, name.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? char(c + 32) : c; });
        out.headers.emplace(std::move(name), field.value());
    }
    return out;
}

std::unexpected<Error> readFault(const beast::error_code& code, const ReadStream& stream)
{
    if (code == http::error::end_of_stream || code == http::error::partial_message ||
        code == asio::error::connection_aborted || code == asio::error::eof)
        return std::unexpected(stream.lastError());
    if (code == http::error::header_limit || code == http::error::body_limit)
        return fail(ErrorCode::TooLarge, "the server's answer is larger than this client takes");
    return fail(ErrorCode::Unavailable,
                "what answers at this address does not speak HTTP as it should: " + code.message());
}

/// What the time limit is for.
enum class Clock : std::uint8_t { PerAnswer, PerPiece };

/// Reads the body; `sink` gets the pieces. True when it was read to its end, false when the sink had enough.
Result<bool> readBody(ReadStream& stream, beast::flat_buffer& buffer, Parser& parser, Clock clock,
                      std::chrono::milliseconds timeout, const HttpClient::Sink& sink)
{
    std::string piece(kPiece, '\0');
    while (!parser.is_done()) {
        parser.get().body().data = piece.data();
        parser.get().body().size = piece.size();
        beast::error_code code;
        if (clock == Clock::PerPiece)
            stream.restart(timeout);
        http::read_some(stream, buffer, parser, code);
        if (code && code != http::error::need_buffer)
            return readFault(code, stream);
        const std::size_t count = piece.size() - parser.get().body().size;
        if (count > 0 && !sink(std::string_view(piece).substr(0, count)))
            return false;
    }
    return true;
}

} // namespace

std::string HttpResponse::header(std::string_view name) const
{
    const auto found = headers.find(name);
    return found == headers.end() ? std::string() : found->second;
}

Result<HttpResponse> HttpClient::exchange(const HttpRequest& request, const Progress& progress, const Sink* sink)
{
    if (!m_settings.token.empty() && !m_settings.address.keepsSecrets() && !m_settings.clearTextAllowed)
        return fail(ErrorCode::InvalidArgument, "the token would travel to " + m_settings.address.text() +
                                                    " in clear text; use https, or set ASSAY_ALLOW_CLEARTEXT=1");
    auto head = requestHead(request, m_settings);
    if (!head)
        return forward(head);
    const auto deadline = std::chrono::steady_clock::now() + request.timeout;
    auto transport =
        Transport::connect(m_settings.address, {m_settings.ca, m_settings.fingerprint}, deadline, m_interrupted);
    if (!transport)
        return forward(transport);

    auto sent = writeAll(**transport, *head, deadline, {});
    if (sent)
        sent = writeAll(**transport, request.body, deadline, progress);
    // A server that refuses early closes while we still write; its answer says why.
    if (!sent && sent.error().code != ErrorCode::Unavailable)
        return forward(sent);

    ReadStream stream(**transport, request.timeout);
    beast::flat_buffer buffer(kHeaderBytes + kPiece);
    Parser parser;
    parser.header_limit(kHeaderBytes);
    parser.body_limit(boost::none);
    beast::error_code code;
    http::read_header(stream, buffer, parser, code);
    if (code)
        return !sent ? Result<HttpResponse>(forward(sent)) : readFault(code, stream);
    HttpResponse out = headOf(parser);
    const bool streams = sink && out.status >= 200 && out.status < 300;
    bool tooLarge = false;
    const Sink keep = [&](std::string_view piece) {
        tooLarge = out.body.size() + piece.size() > request.limitBytes;
        if (!tooLarge)
            out.body.append(piece);
        return !tooLarge;
    };
    auto done = readBody(stream, buffer, parser, streams ? Clock::PerPiece : Clock::PerAnswer, request.timeout,
                         streams ? *sink : keep);
    if (!done)
        return forward(done);
    if (tooLarge)
        return fail(ErrorCode::TooLarge,
                    "the server's answer is over " + std::to_string(request.limitBytes) + " bytes");
    return out;
}

Result<HttpResponse> HttpClient::send(const HttpRequest& request, const Progress& progress)
{
    return exchange(request, progress, nullptr);
}

Result<HttpResponse> HttpClient::stream(const HttpRequest& request, const Sink& sink)
{
    return exchange(request, {}, &sink);
}

} // namespace assay::cli
