// SPDX-License-Identifier: Apache-2.0
#include "server/http/server.h"

#include "server/http/listener.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace assay::http {

struct Server::State
{
    State(const ServerOptions& options, WorkerPool& pool, Observer& observer)
        : shared(options.limits, pool, observer, options.spoolDirectory)
    {}

    Result<void> loadTls(const ServerOptions& options);
    Result<void> openListeners(const ServerOptions& options);
    void begin(unsigned ioThreads);

    ServerState shared;
    std::shared_ptr<TlsContext> tls;
    std::deque<SessionOrigin> origins; ///< one a listener; never moved
    std::vector<std::unique_ptr<Reactor>> reactors;
    std::vector<std::unique_ptr<Listener>> listeners;
    bool running = false;
};

Result<void> Server::State::loadTls(const ServerOptions& options)
{
    if (options.tlsCertificate.empty() && options.tlsKey.empty())
        return {};
    if (options.tlsCertificate.empty() || options.tlsKey.empty())
        return fail(ErrorCode::InvalidArgument, "TLS needs a certificate and a key; only one of the two is set");
    auto loaded = TlsContext::load(options.tlsCertificate, options.tlsKey);
    if (!loaded)
        return forward(loaded);
    tls = std::move(*loaded);
    return {};
}

Result<void> Server::State::openListeners(const ServerOptions& options)
{
    for (const ListenerOptions& wanted : options.listeners) {
        auto opened = Listener::open(wanted.address, shared);
        if (!opened)
            return forward(opened);
        listeners.push_back(std::move(*opened));
        const bool trusted = wanted.address.ingress == ListenAddress::Ingress::Trusted;
        const bool isPlain =
            wanted.address.family == ListenAddress::Family::Unix || wanted.address.tls == ListenAddress::Tls::Off;
        origins.push_back({.service = wanted.service,
                           .trust = trusted ? api::Trust::TrustedIngress : api::Trust::TokenRequired,
                           .tls = isPlain ? nullptr : tls.get()});
    }
    return {};
}

void Server::State::begin(unsigned ioThreads)
{
    for (unsigned i = 0; i < std::max(ioThreads, 1U); ++i)
        reactors.push_back(std::make_unique<Reactor>(shared));
    for (auto& reactor : reactors)
        reactor->start();
    running = true;
    for (std::size_t i = 0; i < listeners.size(); ++i)
        listeners[i]->start(origins[i], reactors);
}

Result<std::unique_ptr<Server>> Server::start(ServerOptions options, WorkerPool& pool, Observer& observer)
{
    auto state = std::make_unique<State>(options, pool, observer);
    if (auto loaded = state->loadTls(options); !loaded)
        return forward(loaded);
    if (auto opened = state->openListeners(options); !opened)
        return forward(opened);
    state->begin(options.ioThreads);
    return std::unique_ptr<Server>(new Server(std::move(state)));
}

Server::Server(std::unique_ptr<State> state) : m_state(std::move(state)) {}

Server::~Server() { stop(std::chrono::milliseconds(0)); }

std::vector<std::string> Server::listening() const
{
    std::vector<std::string> urls;
    for (const auto& listener : m_state->listeners)
        urls.push_back(listener->url());
    return urls;
}

void Server::stop(std::chrono::milliseconds deadline)
{
    if (!m_state->running)
        return;
    m_state->running = false;
    const auto until = std::chrono::steady_clock::now() + deadline;
    for (auto& listener : m_state->listeners)
        listener->stop();
    for (auto& reactor : m_state->reactors)
        reactor->drain();
    for (auto& reactor : m_state->reactors)
        if (!reactor->waitUntilIdle(until))
            reactor->cancel();
    for (auto& reactor : m_state->reactors)
        reactor->stop();
    m_state->listeners.clear();
    m_state->reactors.clear();
}

} // namespace assay::http
