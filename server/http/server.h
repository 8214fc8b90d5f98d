// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/api/exchange.h"
#include "server/http/limits.h"
#include "server/http/listen_address.h"
#include "server/http/observer.h"
#include "server/http/worker_pool.h"

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace assay::http {

/// One address and the service that answers there. The service outlives the server.
struct ListenerOptions
{
    ListenAddress address;
    api::Service* service = nullptr;
};

struct ServerOptions
{
    std::vector<ListenerOptions> listeners;
    Limits limits;
    unsigned ioThreads = 1;
    std::filesystem::path spoolDirectory; ///< for bodies that go to an unlinked file; must exist
    std::filesystem::path tlsCertificate; ///< PEM; with a key, TCP listeners speak TLS unless one says tls=off
    std::filesystem::path tlsKey;
};

/// The HTTP server (docs/http.md): does framing, the request policy, limits, deadlines, event streams and draining;
/// does not know a route, a token or a scope. `start` and `stop` from one thread.
class Server
{
public:
    /// Binds every address or none, then serves. `pool` and `observer` outlive the server.
    static Result<std::unique_ptr<Server>> start(ServerOptions options, WorkerPool& pool, Observer& observer);
    ~Server();

    /// The addresses as clients write them, with real ports, in the order of the options.
    std::vector<std::string> listening() const;

    /// Stops accepting, ends idle connections and event streams, lets requests in progress finish for at most
    /// `deadline`, then cuts them, and joins all threads. A job that runs on a worker is waited for: it has a deadline
    /// of its own.
    void stop(std::chrono::milliseconds deadline);

private:
    struct State;
    explicit Server(std::unique_ptr<State> state);
    std::unique_ptr<State> m_state;
};

} // namespace assay::http
