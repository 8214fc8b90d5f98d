// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/api/exchange.h"
#include "server/contract/page.h"
#include "server/core/clock.h"
#include "server/core/json.h"

#include <span>

namespace assay::api {

/// An admitted request as a handler sees it: who asks, the path's parameters in order, the query's parameters (known
/// to the route, each at most once), the head for its headers, and the body. Handled by one thread.
struct Request
{
    auth::Identity by;
    std::vector<std::string> parameters;
    std::map<std::string, std::string, std::less<>> query;
    RequestHead head;
    Body body;

    const std::string& parameter(std::size_t index) const { return parameters.at(index); }
    /// Empty when the query does not have it.
    std::optional<std::string> queryValue(std::string_view name) const;
};

/// `InvalidArgument` that names the query parameter.
std::unexpected<Error> badQuery(std::string_view name, std::string message);

// Each is `InvalidArgument` naming the parameter or header when it is malformed or out of bounds.

/// `page_size` (1..200, 50 when absent) and `page_token` (at most 512 bytes).
Result<contract::PageRequest> pageOf(const Request& request);
Result<std::optional<bool>> queryFlag(const Request& request, std::string_view name);
/// One of `choices`, or empty when absent.
Result<std::string> queryChoice(const Request& request, std::string_view name,
                                std::span<const std::string_view> choices);
/// At most `maxBytes`; empty when absent.
Result<std::string> queryText(const Request& request, std::string_view name, std::size_t maxBytes);
Result<std::optional<Timestamp>> queryTime(const Request& request, std::string_view name);
Result<std::optional<std::string>> ifMatch(const Request& request);
/// The decimal `Last-Event-ID`; 0 when absent.
Result<std::uint64_t> lastEventId(const Request& request);

/// `Idempotency-Key`: 1 to 128 printable ASCII characters; empty when absent.
Result<std::optional<std::string>> readIdempotencyKey(const RequestHead& head);

/// The body as one JSON value; `InvalidArgument` when it is not JSON.
Result<json::value> jsonBody(const Request& request);
/// The same where the body may be left out: `{}` then.
Result<json::value> optionalBody(const Request& request);
/// For operations without a body: nothing, or `{}`.
Result<void> emptyBody(const Request& request);

/// Decimal digits only, no sign, no blank, no overflow.
std::optional<std::uint64_t> readDecimal(std::string_view text);

} // namespace assay::api
