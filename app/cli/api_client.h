// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/cli/event_stream.h"
#include "app/cli/http_client.h"
#include "server/core/json.h"

namespace assay::cli {

/// A 2xx answer of the API whose body is JSON (null for an empty one).
struct Answer
{
    int status = 0;
    json::value body;
    std::string etag; ///< as sent, quotes included; empty when there is none
};

/// Builds a request's target: segments are percent-encoded, so that a name can never become another path.
std::string pathOf(std::initializer_list<std::string_view> segments);
/// "?a=b&c=d" of the pairs whose value is not empty; nothing for none.
std::string queryOf(const std::vector<std::pair<std::string, std::string>>& pairs);

/// The API of a server as Result values: a problem document (RFC 9457) becomes the `Error` it describes. One thread.
class ApiClient
{
public:
    explicit ApiClient(HttpClient& http) : m_http(http) {}

    Result<Answer> get(const std::string& target);
    /// `body` as JSON. POST carries a fresh Idempotency-Key. `timeout` covers what the server is asked to wait for.
    Result<Answer> post(const std::string& target, const json::value& body,
                        std::chrono::milliseconds timeout = std::chrono::seconds(60));
    Result<Answer> send(HttpRequest request, const HttpClient::Progress& progress = {});
    /// Bytes instead of JSON, at most `limitBytes`.
    Result<HttpResponse> download(const std::string& target, std::uint64_t limitBytes);

    /// All items of a list, page after page, until there are `limit`; then `next_page_token` tells that there are more.
    Result<json::object> list(const std::string& path, const std::vector<std::pair<std::string, std::string>>& query,
                              std::size_t limit);

    /// Reads an event stream to its end, or until `each` returns false. A broken connection is taken up again after the
    /// last event, without loss or repeat, up to 8 times in a row (1.5 s between two tries at most).
    Result<void> events(const std::string& target, const std::function<bool(const StreamEvent&)>& each);

    HttpClient& http() { return m_http; }

private:
    Result<bool> streamOnce(const std::string& target, EventStreamReader& reader, bool& progressed,
                            const std::function<bool(const StreamEvent&)>& each);

    HttpClient& m_http;
};

/// The `Error` that a problem document describes; one that says the status for anything else.
Error problemError(const HttpResponse& response);

} // namespace assay::cli
