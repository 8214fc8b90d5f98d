// SPDX-License-Identifier: Apache-2.0
#include "server/http/reactor.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <csignal>
#include <functional>
#include <mutex>
#include <pthread.h>
#include <string>
#include <string_view>

namespace assay::http {

namespace asio = boost::asio;

namespace {

constexpr std::chrono::milliseconds kSweep{100};

/// Signals are the program's; and a write to a closed TLS connection must be an error, not the process' end.
void blockSignals()
{
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

} // namespace

Reactor::Reactor(ServerState& state) : m_state(state), m_work(asio::make_work_guard(m_context)), m_sweep(m_context) {}

Reactor::~Reactor() { stop(); }

void Reactor::start()
{
    m_thread = std::thread([this] { run(); });
}

void Reactor::run()
{
    blockSignals();
    ::pthread_setname_np(::pthread_self(), "assay-io");
    for (;;) {
        try {
            m_context.run();
            return;
        } catch (const std::exception& exception) {
            // The loop goes on, so that the server can still be stopped in order.
            m_state.observer.onFatal(std::string("an io thread failed: ") + exception.what());
        }
    }
}

void Reactor::spawn(std::string name, std::function<asio::awaitable<void>()> body)
{
    {
        const std::scoped_lock lock(m_mutex);
        ++m_alive;
    }
    asio::co_spawn(m_context, std::move(body),
                   [this, name = std::move(name)](const std::exception_ptr& failure) { finished(name, failure); });
}

void Reactor::adopt(const SessionOrigin& origin, UniqueFd socket, std::string peer)
{
    {
        const std::scoped_lock lock(m_mutex);
        ++m_alive;
    }
    asio::post(m_context, [this, &origin, socket = std::move(socket), peer = std::move(peer)]() mutable {
        begin(origin, std::move(socket), std::move(peer));
    });
}

void Reactor::begin(const SessionOrigin& origin, UniqueFd socket, std::string peer)
{
    m_sessions.emplace_front(m_context, m_state, origin, std::move(socket), std::move(peer));
    const auto session = m_sessions.begin();
    if (m_draining)
        session->drain();
    asio::co_spawn(m_context, session->run(), [this, session](const std::exception_ptr& failure) {
        m_sessions.erase(session);
        finished("connection", failure);
    });
    if (!m_sweeping) {
        m_sweeping = true;
        spawn("deadlines", [this] { return sweep(); });
    }
}

void Reactor::finished(std::string_view name, std::exception_ptr failure)
{
    if (failure) {
        try {
            std::rethrow_exception(failure);
        } catch (const std::exception& exception) {
            m_state.observer.onFault(std::string(name) + ": " + exception.what());
        } catch (...) {
            m_state.observer.onFault(std::string(name) + ": an exception of an unknown type");
        }
    }
    const std::scoped_lock lock(m_mutex);
    if (--m_alive == 0)
        m_idle.notify_all();
}

asio::awaitable<void> Reactor::sweep()
{
    while (!m_sessions.empty()) {
        m_sweep.expires_after(kSweep);
        co_await m_sweep.async_wait(asio::as_tuple(asio::use_awaitable));
        const auto now = std::chrono::steady_clock::now();
        for (Session& session : m_sessions)
            session.checkDeadline(now);
    }
    m_sweeping = false;
}

void Reactor::drain()
{
    asio::post(m_context, [this] {
        m_draining = true;
        m_sweep.cancel();
        for (Session& session : m_sessions)
            session.drain();
    });
}

void Reactor::cancel()
{
    asio::post(m_context, [this] {
        for (Session& session : m_sessions)
            session.cancel();
    });
}

bool Reactor::waitUntilIdle(Connection::TimePoint deadline)
{
    std::unique_lock lock(m_mutex);
    return m_idle.wait_until(lock, deadline, [&] { return m_alive == 0; });
}

void Reactor::stop()
{
    if (!m_thread.joinable())
        return;
    {
        std::unique_lock lock(m_mutex);
        m_idle.wait(lock, [&] { return m_alive == 0; });
    }
    m_work.reset();
    m_thread.join();
}

} // namespace assay::http
