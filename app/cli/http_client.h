// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/cli/settings.h"

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace assay::cli {

/// A request as it goes out. Host, Content-Length, Authorization and User-Agent are added.
struct HttpRequest
{
    std::string method = "GET";
    std::string target; ///< path and query, percent-encoded
    std::vector<std::pair<std::string, std::string>> headers;
    std::string contentType; ///< of the body; empty when there is none
    std::string_view body;
    std::chrono::milliseconds timeout{60'000}; ///< for the whole exchange; of a stream: between two pieces
    std::uint64_t limitBytes = 64ULL << 20;    ///< of the answer's body: more is `TooLarge`
};

struct HttpResponse
{
    int status = 0;
    std::map<std::string, std::string, std::less<>> headers; ///< names in lower case
    std::string body;

    /// Empty when there is no such field (`name` in lower case).
    std::string header(std::string_view name) const;
};

/// A small blocking HTTP/1.1 client: one connection a request, deadlines on every wait, limits on every answer. HTTP
/// statuses are no errors here; `Unavailable` is a server that cannot be reached, `Timeout`, `Cancelled` (interrupted)
/// and `TooLarge` speak for themselves. One thread at a time.
class HttpClient
{
public:
    /// `interrupted` may be null; see Transport.
    HttpClient(Settings settings, const std::atomic<bool>* interrupted)
        : m_settings(std::move(settings)), m_interrupted(interrupted)
    {}

    /// Called with (sent, all) bytes of a request's body while it goes out.
    using Progress = std::function<void(std::uint64_t, std::uint64_t)>;
    Result<HttpResponse> send(const HttpRequest& request, const Progress& progress = {});

    /// Hands out a 2xx answer's body piece by piece, as it arrives; `sink` returns false to end. The answer's own
    /// `body` holds only that of another status. An end of the connection before the body's end is `Unavailable`.
    using Sink = std::function<bool(std::string_view)>;
    Result<HttpResponse> stream(const HttpRequest& request, const Sink& sink);

    const Settings& settings() const { return m_settings; }
    bool interrupted() const { return m_interrupted && m_interrupted->load(); }

private:
    Result<HttpResponse> exchange(const HttpRequest& request, const Progress& progress, const Sink* sink);

    Settings m_settings;
    const std::atomic<bool>* m_interrupted;
};

} // namespace assay::cli
