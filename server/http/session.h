// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/http/body_receiver.h"
#include "server/http/connection.h"
#include "server/http/head_scan.h"
#include "server/http/reply_head.h"
#include "server/http/request_policy.h"
#include "server/http/server_state.h"

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

namespace assay::http {

/// One connection from its first byte to its last: requests in the order of their arrival, each judged, admitted,
/// received, handled on a worker and answered. Confined to its reactor's thread.
class Session
{
public:
    /// `peer` is the key of ConnectionCounts and of the rate; empty for a peer without a limit of its own.
    Session(boost::asio::io_context& context, ServerState& state, const SessionOrigin& origin, UniqueFd socket,
            std::string peer);
    ~Session();

    /// Never throws for what a peer does; returns when the connection is over.
    boost::asio::awaitable<void> run();

    void checkDeadline(Connection::TimePoint now) { m_connection.checkDeadline(now); }
    /// Ends the connection after the request in progress, at once when there is none.
    void drain();
    /// Ends the connection at the next wait.
    void cancel() { m_connection.cancel(); }

private:
    enum class Next : std::uint8_t { Continue, Close, Linger };
    struct Exchange;

    boost::asio::awaitable<Next> serveOne();
    boost::asio::awaitable<Next> readHead(HeadScan& scan);
    boost::asio::awaitable<Next> serve(Exchange& exchange);
    boost::asio::awaitable<bool> admit(Exchange& exchange);
    boost::asio::awaitable<Next> takeBody(Exchange& exchange);
    boost::asio::awaitable<bool> handle(Exchange& exchange, api::Body body);
    boost::asio::awaitable<Next> writeReply(Exchange& exchange);
    boost::asio::awaitable<Next> writeStream(Exchange& exchange, std::unique_ptr<api::EventSource> source);
    boost::asio::awaitable<Next> refuse(Exchange& exchange, Error error, Next then);
    boost::asio::awaitable<Next> refuseHead(Error error, std::string_view reason);
    boost::asio::awaitable<Next> skipBody(Exchange& exchange);
    std::chrono::milliseconds takeRate(Exchange& exchange);
    void noteAdmission(const Exchange& exchange);
    void report(const Exchange& exchange, std::uint64_t bytesOut);
    bool mayKeepAlive(const Exchange& exchange) const;

    boost::asio::io_context& m_context;
    ServerState& m_state;
    const SessionOrigin& m_origin;
    const std::string m_peer;
    Connection m_connection;
    std::string m_in; ///< read and not yet used
    std::uint64_t m_requests = 0;
    bool m_draining = false;
    bool m_betweenRequests = false;
};

} // namespace assay::http
