// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/api/exchange.h"
#include "server/http/request_parser.h"

#include <string_view>

namespace assay::http {

/// A request whose head passed the policy.
struct JudgedRequest
{
    api::RequestHead head;
    bool keepAlive = true; ///< what the client wants
    bool expectContinue = false;
    bool chunked = false;
    bool isHttp10 = false;
};

/// The request policy (docs/http.md, "What is refused"): what a parser lets pass and two programs may read in two
/// ways. `InvalidArgument`, `MethodNotAllowed` (then `Allow` belongs into the answer) or `TooLarge`. Pure.
Result<JudgedRequest> judgeRequest(const WireHead& wire, api::Trust trust, std::size_t maxTargetBytes);

/// What `Allow` says with `MethodNotAllowed`.
inline constexpr std::string_view kAllowedMethods = "GET, HEAD, POST, PUT, PATCH, DELETE";

} // namespace assay::http
