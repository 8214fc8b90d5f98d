// SPDX-License-Identifier: Apache-2.0
#include "server/http/connection.h"

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <memory>
#include <poll.h>
#include <span>
#include <string_view>

namespace assay::http {

namespace asio = boost::asio;

namespace {

constexpr std::size_t kLingerBytes = 1U << 20;

Connection::Outcome outcomeOf(Step::Kind kind)
{
    return kind == Step::Kind::Moved ? Connection::Outcome::Ok : Connection::Outcome::Closed;
}

bool mustWait(Step step) { return step.kind == Step::Kind::WantRead || step.kind == Step::Kind::WantWrite; }

std::unique_ptr<Transport> transportFor(int socket, const TlsContext* tls)
{
    return tls != nullptr ? tls->accept(socket) : makePlainTransport(socket);
}

} // namespace

Connection::Connection(asio::io_context& context, UniqueFd socket, const TlsContext* tls)
    : m_descriptor(context, socket.get()), m_socket(socket.release()), m_transport(transportFor(m_socket, tls))
{
    if (!m_transport)
        m_cancelled = true;
}

asio::awaitable<Connection::Outcome> Connection::wait(Step::Kind what, TimePoint deadline)
{
    if (m_cancelled)
        co_return Outcome::Cancelled;
    m_deadline = deadline;
    const auto type = what == Step::Kind::WantRead ? asio::posix::descriptor_base::wait_read
                                                   : asio::posix::descriptor_base::wait_write;
    const auto [error] = co_await m_descriptor.async_wait(type, asio::as_tuple(asio::use_awaitable));
    m_deadline = TimePoint::max();
    if (m_cancelled)
        co_return Outcome::Cancelled;
    if (m_timedOut)
        co_return Outcome::TimedOut;
    co_return error ? Outcome::Closed : Outcome::Ok;
}

asio::awaitable<Connection::Outcome> Connection::handshake(TimePoint deadline)
{
    if (!m_transport)
        co_return Outcome::Closed;
    for (;;) {
        const Step step = m_transport->handshake();
        if (!mustWait(step))
            co_return outcomeOf(step.kind);
        if (const auto waited = co_await wait(step.kind, deadline); waited != Outcome::Ok)
            co_return waited;
    }
}

asio::awaitable<Connection::Outcome> Connection::read(std::string& into, std::size_t limit, TimePoint deadline,
                                                      First first)
{
    const std::size_t before = into.size();
    if (first == First::Wait && !m_transport->mayHoldBytes())
        if (const auto waited = co_await wait(Step::Kind::WantRead, deadline); waited != Outcome::Ok)
            co_return waited;
    for (;;) {
        into.resize(before + limit);
        const Step step = m_transport->read(std::span(into.data() + before, limit));
        into.resize(before + step.bytes);
        if (!mustWait(step))
            co_return outcomeOf(step.kind);
        if (const auto waited = co_await wait(step.kind, deadline); waited != Outcome::Ok)
            co_return waited;
    }
}

asio::awaitable<Connection::Outcome> Connection::write(std::string_view first, std::string_view second,
                                                       std::chrono::milliseconds grace, std::uint64_t bytesPerSecond)
{
    const auto start = std::chrono::steady_clock::now();
    std::uint64_t written = 0;
    while (!first.empty() || !second.empty()) {
        const Step step = m_transport->write(first, second);
        if (mustWait(step)) {
            // Bytes that the kernel has taken are not read yet: no single wait gets more than the grace.
            const std::chrono::milliseconds earned(written * 1000 / std::max<std::uint64_t>(bytesPerSecond, 1));
            const auto deadline = std::min(start + earned, std::chrono::steady_clock::now()) + grace;
            if (const auto waited = co_await wait(step.kind, deadline); waited != Outcome::Ok)
                co_return waited;
            continue;
        }
        if (step.kind != Step::Kind::Moved)
            co_return Outcome::Closed;
        written += step.bytes;
        const std::size_t ofFirst = std::min(step.bytes, first.size());
        first.remove_prefix(ofFirst);
        second.remove_prefix(step.bytes - ofFirst);
    }
    co_return Outcome::Ok;
}

asio::awaitable<void> Connection::linger(std::chrono::milliseconds limit)
{
    m_transport->endSending();
    const auto deadline = std::chrono::steady_clock::now() + limit;
    std::string discarded;
    for (std::size_t total = 0; total < kLingerBytes; total += discarded.size()) {
        discarded.clear();
        if (co_await read(discarded, 16 * 1024, deadline) != Outcome::Ok)
            co_return;
    }
}

void Connection::checkDeadline(TimePoint now)
{
    if (now < m_deadline)
        return;
    m_timedOut = true;
    m_descriptor.cancel();
}

void Connection::cancel()
{
    m_cancelled = true;
    m_descriptor.cancel();
}

bool Connection::isPeerGone() const
{
    pollfd entry{m_socket, POLLRDHUP, 0};
    return ::poll(&entry, 1, 0) > 0;
}

} // namespace assay::http
