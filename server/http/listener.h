// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/http/listen_address.h"
#include "server/http/reactor.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace assay::http {

/// Accepts connections on one address and hands them to the reactors in turn. Its coroutine runs on the first one.
class Listener
{
public:
    /// Binds and listens. `Unavailable` names the address and the cause. A UNIX socket left by a killed server is
    /// replaced, one that somebody serves is not.
    static Result<std::unique_ptr<Listener>> open(const ListenAddress& address, ServerState& state);
    ~Listener();
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;

    /// "http://127.0.0.1:8473", "https://...", "unix:/path": with the real port.
    std::string url() const;
    const ListenAddress& address() const { return m_address; }

    /// Begins to accept. `origin` and `reactors` outlive the listener.
    void start(const SessionOrigin& origin, std::vector<std::unique_ptr<Reactor>>& reactors);
    /// Stops accepting; from any thread, once `start` was called.
    void stop();

private:
    Listener(ListenAddress address, UniqueFd socket, ServerState& state);
    boost::asio::awaitable<void> accept();
    bool acceptOne();
    void take(UniqueFd socket, std::string peer);

    ListenAddress m_address;
    UniqueFd m_socket;
    ServerState& m_state;
    const SessionOrigin* m_origin = nullptr;
    std::vector<std::unique_ptr<Reactor>>* m_reactors = nullptr;
    std::optional<boost::asio::posix::stream_descriptor> m_descriptor;
    std::optional<boost::asio::steady_timer> m_pause;
    std::size_t m_next = 0;
    bool m_exhausted = false;
    bool m_stopping = false;
};

} // namespace assay::http
