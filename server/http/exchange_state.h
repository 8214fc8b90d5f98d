// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/ids.h"
#include "server/http/session.h"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace assay::http {

/// One request and its answer, as a session works on it.
struct Session::Exchange
{
    RequestParser parser;
    JudgedRequest request{}; ///< its head is given away when the request is admitted
    std::optional<std::uint64_t> contentLength;
    std::unique_ptr<api::Admitted> admitted;
    std::unique_ptr<BodyReceiver> body; ///< holds the body's share of memory until the answer is made
    api::Reply reply;
    const std::string id = newId("req_", SystemClock().now()); ///< ours: what a client sends is never taken
    std::string_view method = "none";
    std::string_view route = "none";
    std::string tokenHash;
    Connection::TimePoint start = std::chrono::steady_clock::now();
    bool isHead = false;
    bool bodyConsumed = true;
};

} // namespace assay::http
