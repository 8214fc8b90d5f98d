// SPDX-License-Identifier: Apache-2.0
#include "server/http/listener.h"

#include "server/http/socket_address.h"

#include <algorithm>
#include <array>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cerrno>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <vector>

namespace assay::http {

namespace asio = boost::asio;

namespace {

constexpr int kAcceptsPerTurn = 64;
constexpr std::chrono::milliseconds kPauseWhenExhausted{100};

/// For a connection over a limit: no session, no worker, one try to say why.
constexpr std::string_view kTooManyConnections =
    "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/problem+json\r\nRetry-After: 1\r\n"
    "Content-Length: 187\r\nConnection: close\r\n\r\n"
    R"({"type":"about:blank","title":"The service cannot do this now","status":503,"code":"unavailable",)"
    R"("detail":"the server has as many connections as it takes; close some, or try again later"})";

bool isAboutOneConnection(int errnoValue)
{
    constexpr std::array kKinds{ECONNABORTED, EINTR,        EPROTO,      EPERM,      ENETDOWN,
                                EHOSTDOWN,    EHOSTUNREACH, ENETUNREACH, ENOPROTOOPT};
    return std::ranges::contains(kKinds, errnoValue);
}

bool isExhaustion(int errnoValue)
{
    return errnoValue == EMFILE || errnoValue == ENFILE || errnoValue == ENOMEM || errnoValue == ENOBUFS;
}

} // namespace

Listener::Listener(ListenAddress address, UniqueFd socket, ServerState& state)
    : m_address(std::move(address)), m_socket(std::move(socket)), m_state(state)
{}

Result<std::unique_ptr<Listener>> Listener::open(const ListenAddress& address, ServerState& state)
{
    ListenAddress real = address;
    auto socket = listenOn(real);
    if (!socket)
        return forward(socket);
    return std::unique_ptr<Listener>(new Listener(std::move(real), std::move(*socket), state));
}

Listener::~Listener()
{
    if (m_descriptor)
        m_socket.release(); // the descriptor closes it
    if (m_address.family == ListenAddress::Family::Unix)
        ::unlink(m_address.host.c_str());
}

std::string Listener::url() const
{
    if (m_address.family == ListenAddress::Family::Unix)
        return "unix:" + m_address.host;
    const std::string host =
        m_address.family == ListenAddress::Family::IPv6 ? "[" + m_address.host + "]" : m_address.host;
    const bool tls = m_origin != nullptr && m_origin->tls != nullptr;
    return (tls ? "https://" : "http://") + host + ":" + std::to_string(m_address.port);
}

void Listener::start(const SessionOrigin& origin, std::vector<std::unique_ptr<Reactor>>& reactors)
{
    m_origin = &origin;
    m_reactors = &reactors;
    auto& context = reactors.front()->context();
    m_descriptor.emplace(context, m_socket.get());
    m_pause.emplace(context);
    reactors.front()->spawn("listener", [this] { return accept(); });
}

void Listener::stop()
{
    if (m_reactors == nullptr)
        return;
    asio::post(m_reactors->front()->context(), [this] {
        m_stopping = true;
        m_descriptor->cancel();
        m_pause->cancel();
    });
}

asio::awaitable<void> Listener::accept()
{
    while (!m_stopping) {
        static_cast<void>(co_await m_descriptor->async_wait(asio::posix::descriptor_base::wait_read,
                                                            asio::as_tuple(asio::use_awaitable)));
        for (int i = 0; i < kAcceptsPerTurn && !m_stopping && acceptOne(); ++i) {
        }
        if (m_exhausted && !m_stopping) {
            m_exhausted = false;
            m_pause->expires_after(kPauseWhenExhausted);
            co_await m_pause->async_wait(asio::as_tuple(asio::use_awaitable));
        }
    }
}

/// True when there may be more to accept.
bool Listener::acceptOne()
{
    UniqueFd socket(::accept4(m_socket.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (socket) {
        auto peer = peerKey(socket.get(), m_address.family);
        take(std::move(socket), std::move(peer));
        return true;
    }
    if (isAboutOneConnection(errno))
        return true;
    m_exhausted = isExhaustion(errno);
    if (!m_exhausted && errno != EAGAIN) {
        m_state.observer.onFatal("a listener cannot accept: " + failErrno("accept4", errno).error().detail);
        m_stopping = true;
    }
    return false;
}

void Listener::take(UniqueFd socket, std::string peer)
{
    const bool limited = m_address.ingress == ListenAddress::Ingress::Token;
    const auto verdict = m_state.counts.add(limited ? peer : std::string());
    if (verdict == ConnectionCounts::Verdict::Accepted) {
        (*m_reactors)[m_next++ % m_reactors->size()]->adopt(*m_origin, std::move(socket), std::move(peer));
        return;
    }
    m_state.observer.onRefused(verdict == ConnectionCounts::Verdict::TooMany ? "connections" : "connections_per_peer");
    if (m_origin->tls == nullptr)
        ::send(socket.get(), kTooManyConnections.data(), kTooManyConnections.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

} // namespace assay::http
