// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/unique_fd.h"
#include "server/http/transport.h"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>

namespace assay::http {

/// One accepted socket with deadlines: every wait has one, and ends early when the reactor finds that it has passed.
/// Confined to its reactor's thread.
class Connection
{
public:
    using TimePoint = std::chrono::steady_clock::time_point;
    enum class Outcome : std::uint8_t { Ok, Closed, TimedOut, Cancelled };

    /// `tls` may be null. Takes the socket; it must be non-blocking.
    Connection(boost::asio::io_context& context, UniqueFd socket, const TlsContext* tls);

    boost::asio::awaitable<Outcome> handshake(TimePoint deadline);
    /// What a read does first: between requests nothing is there yet as a rule, and a try would be in vain.
    enum class First : std::uint8_t { Try, Wait };
    /// Appends what has arrived to `into`, at most `limit` bytes, at least one with `Ok`.
    boost::asio::awaitable<Outcome> read(std::string& into, std::size_t limit, TimePoint deadline,
                                         First first = First::Try);
    /// Writes both pieces whole. May stand still for `grace`, and take `grace` and one second more for each
    /// `bytesPerSecond` that went through.
    boost::asio::awaitable<Outcome> write(std::string_view first, std::string_view second,
                                          std::chrono::milliseconds grace, std::uint64_t bytesPerSecond);
    /// Ends the sending side and discards what still arrives, so that the peer can read its answer before a reset.
    boost::asio::awaitable<void> linger(std::chrono::milliseconds limit);

    /// Ends the wait in progress when its deadline has passed.
    void checkDeadline(TimePoint now);
    /// Ends the wait in progress, and every later one.
    void cancel();
    /// True when the peer has closed, or half closed, without a byte being read.
    bool isPeerGone() const;
    int socket() const { return m_socket; }

private:
    boost::asio::awaitable<Outcome> wait(Step::Kind what, TimePoint deadline);

    boost::asio::posix::stream_descriptor m_descriptor;
    int m_socket;
    std::unique_ptr<Transport> m_transport;
    TimePoint m_deadline = TimePoint::max();
    bool m_timedOut = false;
    bool m_cancelled = false;
};

} // namespace assay::http
