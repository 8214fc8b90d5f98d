// SPDX-License-Identifier: Apache-2.0
#include "server/http/event_stream.h"

#include "server/http/offload.h"

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <format>
#include <memory>
#include <string>
#include <string_view>

namespace assay::http {

namespace asio = boost::asio;

namespace {

constexpr std::size_t kBatch = 64;
/// How often a waiting stream looks whether its client is still there and whether the server drains.
constexpr std::chrono::milliseconds kGlance{250};

std::string framed(std::string text, Framing framing)
{
    return framing == Framing::Chunked ? std::format("{:x}\r\n{}\r\n", text.size(), text) : text;
}

} // namespace

/// Runs on a worker, where an exception would end the process: it ends the stream instead.
api::EventSource::Batch EventStream::readGuarded(api::EventSource& source)
{
    try {
        return source.read(kBatch);
    } catch (const std::exception& exception) {
        m_state.observer.onFault(exception.what());
    }
    return {.events = {}, .ended = true};
}

/// What a source rings, from any thread; shared with the ring that may be under way when the stream ends.
struct EventStream::Bell
{
    explicit Bell(asio::io_context& context) : timer(context) {}
    asio::steady_timer timer;
    bool rung = false;
};

std::string formatEvent(const api::Event& event)
{
    std::string out = std::format("id: {}\nevent: {}\n", event.id, event.type);
    std::string_view data = event.data;
    do {
        const auto end = std::min(data.find_first_of("\r\n"), data.size());
        out.append("data: ").append(data.substr(0, end)).append("\n");
        data.remove_prefix(std::min(end + 1, data.size()));
    } while (!data.empty());
    return out + "\n";
}

asio::awaitable<bool> EventStream::send(std::string_view head, std::string text)
{
    m_lastWrite = std::chrono::steady_clock::now();
    m_written += text.size();
    const auto outcome =
        co_await m_connection.write(head, text, m_state.limits.writeGrace, m_state.limits.minBytesPerSecond);
    if (outcome == Connection::Outcome::TimedOut)
        m_state.observer.onRefused("write_timeout");
    co_return outcome == Connection::Outcome::Ok;
}

/// True when the bell rang or the server drains; false when the client is gone.
asio::awaitable<bool> EventStream::waitForMore(Bell& bell)
{
    while (!bell.rung) {
        bell.timer.expires_after(kGlance);
        co_await bell.timer.async_wait(asio::as_tuple(asio::use_awaitable));
        if (m_draining)
            co_return true;
        if (m_connection.isPeerGone())
            co_return false;
        const bool quiet = std::chrono::steady_clock::now() - m_lastWrite >= m_state.limits.heartbeat;
        if (!bell.rung && quiet && !co_await send({}, framed(": \n\n", m_framing)))
            co_return false;
    }
    co_return true;
}

asio::awaitable<std::uint64_t> EventStream::run(asio::io_context& context, std::string head,
                                                std::unique_ptr<api::EventSource> source, Framing framing)
{
    m_framing = framing;
    auto bell = std::make_shared<Bell>(context);
    const auto ring = [bell, executor = context.get_executor()] {
        asio::post(executor, [bell] {
            bell->rung = true;
            bell->timer.cancel();
        });
    };
    bool alive = co_await send(head, {}); // false: the client is gone
    bool ended = false;
    while (alive && !ended && !m_draining && !m_connection.isPeerGone()) {
        api::EventSource::Batch batch;
        auto job = [&] { batch = readGuarded(*source); };
        if (!co_await offload(m_state.pool, job))
            break;
        std::string text;
        for (const api::Event& event : batch.events)
            text += formatEvent(event);
        ended = batch.ended;
        if (!text.empty()) {
            alive = co_await send({}, framed(std::move(text), framing));
        } else if (!ended) {
            bell->rung = false;
            source->onReady(ring);
            alive = co_await waitForMore(*bell);
        }
    }
    source.reset();
    m_complete = alive && ended;
    if (alive && framing == Framing::Chunked && (ended || m_draining))
        m_complete = co_await send("0\r\n\r\n", {}) && ended;
    co_return m_written;
}

} // namespace assay::http
