// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/http/session.h"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/steady_timer.hpp>
#include <condition_variable>
#include <functional>
#include <list>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

namespace assay::http {

/// One thread with the connections that belong to it. It never blocks: what may block is offloaded. Deadlines are
/// looked at ten times a second while there are connections.
class Reactor
{
public:
    explicit Reactor(ServerState& state);
    /// `stop` has been called, or `start` never was.
    ~Reactor();
    Reactor(const Reactor&) = delete;
    Reactor& operator=(const Reactor&) = delete;

    void start();
    boost::asio::io_context& context() { return m_context; }

    /// Takes an accepted connection, from any thread. `origin` outlives the reactor.
    void adopt(const SessionOrigin& origin, UniqueFd socket, std::string peer);
    /// Runs a named coroutine until it returns; `stop` waits for it. From any thread.
    void spawn(std::string name, std::function<boost::asio::awaitable<void>()> body);

    /// Asks all connections to end after the request in progress. From any thread.
    void drain();
    /// Ends all connections at their next wait. From any thread.
    void cancel();
    /// Waits at most until `deadline` for all connections and coroutines to end; true when they did.
    bool waitUntilIdle(Connection::TimePoint deadline);
    /// Ends the thread, once everything that was spawned has returned.
    void stop();

private:
    void run();
    void begin(const SessionOrigin& origin, UniqueFd socket, std::string peer);
    void finished(std::string_view name, std::exception_ptr failure);
    boost::asio::awaitable<void> sweep();

    ServerState& m_state;
    boost::asio::io_context m_context{1};
    boost::asio::executor_work_guard<boost::asio::io_context::executor_type> m_work;
    boost::asio::steady_timer m_sweep;
    std::list<Session> m_sessions;
    bool m_sweeping = false;
    bool m_draining = false;

    std::mutex m_mutex;
    std::condition_variable m_idle;
    std::size_t m_alive = 0; ///< sessions and coroutines, also those still on their way to the thread
    std::thread m_thread;
};

} // namespace assay::http
