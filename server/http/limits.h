// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace assay::http {

/// What one server grants its clients; all of it is settable (docs/settings.md) and documented (docs/http.md).
/// A count or rate of 0 means "no limit" only where that is said.
struct Limits
{
    std::size_t headBytes = 16 * 1024; ///< request line and fields together
    std::size_t headFields = 100;
    std::size_t targetBytes = 8 * 1024;

    std::size_t connections = 1024;
    std::size_t connectionsPerPeer = 256; ///< an address (IPv4), a /64 (IPv6) or a user (UNIX); not for trusted ingress
    std::size_t eventStreams = 512;       ///< of `connections`
    std::uint64_t requestsPerConnection = 10'000;

    std::chrono::milliseconds handshake{10'000}; ///< TLS, from the accept
    std::chrono::milliseconds head{10'000};      ///< from the first byte of a request to the end of its head
    std::chrono::milliseconds idle{60'000};      ///< between requests
    /// A body, and a reply, may stand still for this long at most, and may take this long in all and one second more
    /// for each `minBytesPerSecond` that went through.
    std::chrono::milliseconds bodyGrace{30'000};
    std::chrono::milliseconds writeGrace{30'000};
    std::uint64_t minBytesPerSecond = 16 * 1024;
    std::chrono::milliseconds linger{2'000}; ///< to let a refused client read its answer
    std::chrono::milliseconds heartbeat{15'000};

    double tokenRequestsPerSecond = 0; ///< 0: no limit
    double tokenBurst = 1'000;
    double peerRequestsPerSecond = 200; ///< requests without an admitted token; 0: no limit
    double peerBurst = 1'000;

    std::uint64_t bodyMemoryBytes = 256ULL << 20; ///< bodies held in memory by all connections together
};

} // namespace assay::http
