// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/api/exchange.h"
#include "server/http/connection_counts.h"
#include "server/http/known_tokens.h"
#include "server/http/limits.h"
#include "server/http/observer.h"
#include "server/http/rate_limiter.h"
#include "server/http/transport.h"
#include "server/http/worker_pool.h"

#include <atomic>
#include <filesystem>

namespace assay::http {

/// What all sessions of one server share. Thread-safe.
struct ServerState
{
    ServerState(const Limits& given, WorkerPool& workerPool, Observer& told, std::filesystem::path spool)
        : limits(given),
          pool(workerPool),
          observer(told),
          spoolDirectory(std::move(spool)),
          counts(given.connections, given.connectionsPerPeer),
          tokenRate(given.tokenRequestsPerSecond, given.tokenBurst),
          peerRate(given.peerRequestsPerSecond, given.peerBurst)
    {}

    const Limits limits;
    WorkerPool& pool;
    Observer& observer;
    const std::filesystem::path spoolDirectory;
    ConnectionCounts counts;
    RateLimiter tokenRate;
    RateLimiter peerRate;
    KnownTokens knownTokens;
    std::atomic<std::uint64_t> bodyMemory{0};
    std::atomic<std::size_t> eventStreams{0};
};

/// What a session knows of the listener that accepted it. Outlives the session.
struct SessionOrigin
{
    api::Service* service = nullptr;
    api::Trust trust = api::Trust::TokenRequired;
    const TlsContext* tls = nullptr;
};

} // namespace assay::http
