// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/http/connection.h"
#include "server/http/reply_head.h"
#include "server/http/server_state.h"

#include <memory>
#include <string>
#include <string_view>

namespace assay::http {

/// Writes one source's events as `text/event-stream` (WHATWG HTML, "Server-sent events") until the source ends, the
/// client goes or the server drains. Backpressure: the next events are read when the last ones were written.
class EventStream
{
public:
    /// `draining` is watched while the stream runs.
    EventStream(ServerState& state, Connection& connection, const bool& draining)
        : m_state(state), m_connection(connection), m_draining(draining)
    {}

    /// Returns the bytes written; the source is destroyed before it returns. `Chunked` is closed by its last chunk.
    boost::asio::awaitable<std::uint64_t> run(boost::asio::io_context& context, std::string head,
                                              std::unique_ptr<api::EventSource> source, Framing framing);
    /// True when the source came to its end and all was written: the connection may go on.
    bool isComplete() const { return m_complete; }

private:
    struct Bell;
    api::EventSource::Batch readGuarded(api::EventSource& source);
    boost::asio::awaitable<bool> send(std::string_view head, std::string text);
    boost::asio::awaitable<bool> waitForMore(Bell& bell);

    ServerState& m_state;
    Connection& m_connection;
    const bool& m_draining;
    Framing m_framing = Framing::Chunked;
    bool m_complete = false;
    std::uint64_t m_written = 0;
    Connection::TimePoint m_lastWrite;
};

/// One event in its wire form.
std::string formatEvent(const api::Event& event);

} // namespace assay::http
