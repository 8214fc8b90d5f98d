// SPDX-License-Identifier: Apache-2.0
// How a session answers: whole replies and event streams.
#include "server/http/event_stream.h"
#include "server/http/exchange_state.h"

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <variant>

namespace assay::http {

namespace asio = boost::asio;
using Outcome = Connection::Outcome;

namespace {

/// A refused body of at most this size is read and dropped, so that the connection can go on.
constexpr std::uint64_t kMaxSkippedBody = 64 * 1024;

std::string_view bytesOf(const api::Reply& reply)
{
    if (const auto* text = std::get_if<std::string>(&reply.body))
        return *text;
    if (const auto* shared = std::get_if<api::Reply::Shared>(&reply.body))
        return shared->bytes;
    return {};
}

/// One of the server's places for event streams, while it is held.
class StreamPlace
{
public:
    explicit StreamPlace(ServerState& state)
        : m_state(state), m_taken(++state.eventStreams <= state.limits.eventStreams)
    {
        m_state.observer.onEventStreams(+1);
    }
    ~StreamPlace()
    {
        --m_state.eventStreams;
        m_state.observer.onEventStreams(-1);
    }
    StreamPlace(const StreamPlace&) = delete;
    StreamPlace& operator=(const StreamPlace&) = delete;
    bool isTaken() const { return m_taken; }

private:
    ServerState& m_state;
    bool m_taken;
};

} // namespace

bool Session::mayKeepAlive(const Exchange& exchange) const
{
    if (!exchange.bodyConsumed) {
        // Whether a client that was not told to continue sends its body is not known: nothing can follow.
        const bool skippable = exchange.contentLength.value_or(kMaxSkippedBody + 1) <= kMaxSkippedBody;
        if (exchange.request.expectContinue || !skippable || exchange.body)
            return false;
    }
    return exchange.request.keepAlive && !m_draining && m_requests < m_state.limits.requestsPerConnection;
}

asio::awaitable<Session::Next> Session::skipBody(Exchange& exchange)
{
    BodyReceiver receiver(m_state, m_connection);
    const auto skipped =
        co_await receiver.receive(exchange.parser, m_in, {.limitBytes = kMaxSkippedBody, .toFile = false});
    co_return skipped ? Next::Continue : Next::Close;
}

void Session::report(const Exchange& exchange, std::uint64_t bytesOut)
{
    m_state.observer.onRequest({.method = exchange.method,
                                .route = exchange.route,
                                .status = exchange.reply.status,
                                .duration = std::chrono::steady_clock::now() - exchange.start,
                                .bytesOut = bytesOut,
                                .id = exchange.id});
}

asio::awaitable<Session::Next> Session::writeReply(Exchange& exchange)
{
    if (auto* source = std::get_if<std::unique_ptr<api::EventSource>>(&exchange.reply.body))
        co_return co_await writeStream(exchange, std::move(*source));
    const std::string_view bytes = bytesOf(exchange.reply);
    const bool keepAlive = mayKeepAlive(exchange);
    const std::string head = replyHead(
        exchange.reply,
        {.length = bytes.size(), .close = !keepAlive, .isHttp10 = exchange.request.isHttp10, .requestId = exchange.id});
    const bool bodiless = exchange.isHead || hasNoBody(exchange.reply.status);
    const auto outcome = co_await m_connection.write(head, bodiless ? std::string_view{} : bytes,
                                                     m_state.limits.writeGrace, m_state.limits.minBytesPerSecond);
    report(exchange, head.size() + (bodiless ? 0 : bytes.size()));
    if (outcome == Outcome::TimedOut)
        m_state.observer.onRefused("write_timeout");
    if (outcome != Outcome::Ok)
        co_return Next::Close;
    if (!keepAlive)
        co_return m_draining&& exchange.bodyConsumed ? Next::Close : Next::Linger;
    co_return exchange.bodyConsumed ? Next::Continue : co_await skipBody(exchange);
}

asio::awaitable<Session::Next> Session::writeStream(Exchange& exchange, std::unique_ptr<api::EventSource> source)
{
    const StreamPlace place(m_state);
    if (!place.isTaken()) {
        source.reset();
        exchange.reply = {};
        co_return co_await refuse(exchange,
                                  Error{ErrorCode::Unavailable,
                                        "the server feeds " + std::to_string(m_state.limits.eventStreams) +
                                            " event streams already, which is its limit; try again later",
                                        {},
                                        {},
                                        {}},
                                  Next::Continue);
    }
    const Framing framing = exchange.request.isHttp10 ? Framing::UntilClose : Framing::Chunked;
    const bool close = framing == Framing::UntilClose || !mayKeepAlive(exchange);
    std::string head = replyHead(
        exchange.reply,
        {.framing = framing, .close = close, .isHttp10 = exchange.request.isHttp10, .requestId = exchange.id});
    if (exchange.isHead) {
        source.reset();
        const auto outcome =
            co_await m_connection.write(head, {}, m_state.limits.writeGrace, m_state.limits.minBytesPerSecond);
        co_return outcome == Outcome::Ok && !close ? Next::Continue : Next::Close;
    }
    EventStream stream(m_state, m_connection, m_draining);
    const auto written = co_await stream.run(m_context, std::move(head), std::move(source), framing);
    report(exchange, written);
    co_return !close && !m_draining && stream.isComplete() ? Next::Continue : Next::Close;
}

} // namespace assay::http
