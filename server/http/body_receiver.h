// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/http/connection.h"
#include "server/http/request_parser.h"
#include "server/http/server_state.h"

#include <optional>
#include <string>

namespace assay::http {

/// Why a body did not arrive: an error to answer with, or none when the connection is gone.
struct BodyFailure
{
    std::optional<Error> answer;
};

/// Takes one body off a connection under its policy, into memory that all connections share a budget of, or into an
/// unlinked file. Must outlive the use of the body it gave: it holds the memory's share of the budget.
class BodyReceiver
{
public:
    BodyReceiver(ServerState& state, Connection& connection) : m_state(state), m_connection(connection) {}
    ~BodyReceiver();
    BodyReceiver(const BodyReceiver&) = delete;
    BodyReceiver& operator=(const BodyReceiver&) = delete;

    /// `pending` is what was read behind the head; what follows the body is left in it.
    boost::asio::awaitable<std::expected<api::Body, BodyFailure>> receive(RequestParser& parser, std::string& pending,
                                                                          api::BodyPolicy policy);

private:
    boost::asio::awaitable<std::optional<BodyFailure>> step(RequestParser& parser, std::string& pending);
    boost::asio::awaitable<std::optional<BodyFailure>> store(std::size_t arrived, bool last);
    boost::asio::awaitable<std::optional<BodyFailure>> spool();
    std::optional<BodyFailure> reserve(std::uint64_t bytes);

    ServerState& m_state;
    Connection& m_connection;
    api::BodyPolicy m_policy;
    api::Body m_body;
    std::string m_spooled; ///< waits to be written into the file
    std::uint64_t m_reserved = 0;
    std::uint64_t m_sinceYield = 0;
    Connection::TimePoint m_start;
};

} // namespace assay::http
