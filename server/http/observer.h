// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>

namespace assay::http {

/// What the server tells about itself: metrics and log lines. Called on any of its threads; must not block for long
/// and must not throw. No argument ever holds a path, a token or a scope: `route` is a template.
class Observer
{
public:
    virtual ~Observer() = default;

    struct Request
    {
        std::string_view method;
        std::string_view route; ///< a template of the API, or "none" for a request that was refused before routing
        int status = 0;
        std::chrono::nanoseconds duration{0}; ///< from the end of the head to the end of the reply
        std::uint64_t bytesOut = 0;
        std::string_view id; ///< "req_...", which the reply told
    };
    virtual void onRequest(const Request& request) { static_cast<void>(request); }
    /// `delta` is +1 or -1.
    virtual void onConnections(int delta) { static_cast<void>(delta); }
    virtual void onEventStreams(int delta) { static_cast<void>(delta); }
    /// `reason` is one of a closed set: "connections", "connections_per_peer", "rate", "head_timeout", "body_timeout",
    /// "write_timeout", "handshake", "malformed".
    virtual void onRefused(std::string_view reason) { static_cast<void>(reason); }
    /// Something that should not happen and that the server survived: one connection or request was lost.
    virtual void onFault(std::string_view what) { static_cast<void>(what); }
    /// A thread or a listener is gone; the process should end with a failure.
    virtual void onFatal(std::string_view what) { static_cast<void>(what); }
};

} // namespace assay::http
