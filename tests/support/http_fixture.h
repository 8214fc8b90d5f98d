// SPDX-License-Identifier: Apache-2.0
// An HTTP server over a fake service, and a client that sends raw bytes over a real socket.
#pragma once

#include "server/http/server.h"

#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>

namespace assay::test {

/// Answers by the first path segment:
///   (none), anything else: 200 with a JSON summary of what arrived
///   "forbidden": 403 at admission     "big": 8 MiB     "huge": 64 MiB     "slow": waits until `release`     "events":
///   an event stream "throws": throws while it handles
class FakeService final : public api::Service
{
public:
    std::expected<std::unique_ptr<api::Admitted>, api::Reply> admit(api::RequestHead head) override;
    api::Reply problem(const Error& error) override;

    void release();
    void waitForRelease();

    std::atomic<std::uint64_t> bodyLimit{1U << 20};
    std::atomic<int> admitted{0};
    std::atomic<int> handled{0};
    std::atomic<int> liveSources{0};
    std::atomic<int> eventsPerStream{3}; ///< negative: the stream never ends
    std::string lastEventId;             ///< read it when the stream has answered
    std::vector<std::string> order;      ///< targets in the order in which they were handled
    std::mutex mutex;

private:
    std::condition_variable m_released;
    bool m_isReleased = false;
};

/// Counts what the server tells.
class CountingObserver final : public http::Observer
{
public:
    void onRequest(const Request& request) override;
    void onConnections(int delta) override { connections += delta; }
    void onRefused(std::string_view reason) override;
    void onFault(std::string_view what) override;
    void onFatal(std::string_view what) override;
    int refusedFor(const std::string& reason);

    std::atomic<int> connections{0};
    std::atomic<int> requests{0};
    std::atomic<int> faults{0};
    std::string lastRoute;

private:
    std::mutex m_mutex;
    std::map<std::string, int> m_refused;
};

/// A running server on a port of its own. Members may be changed before `start`.
class HttpFixture
{
public:
    ~HttpFixture();
    Result<void> start(const std::string& listen = "127.0.0.1:0");
    void stop(std::chrono::milliseconds deadline = std::chrono::milliseconds(2000));
    std::uint16_t port() const;

    FakeService service;
    CountingObserver observer;
    http::ServerOptions options;
    http::WorkerPool pool{{}};
    std::unique_ptr<http::Server> server;
};

/// A blocking client socket. Every wait ends after ten seconds.
class RawClient
{
public:
    explicit RawClient(std::uint16_t port);
    explicit RawClient(const std::string& unixPath);
    bool send(std::string_view bytes);
    /// Until the peer closes, or until `stop` was seen; what came.
    std::string readAll();
    std::string readUntil(std::string_view stop);
    /// One reply: its head and a body of Content-Length.
    std::string readReply(bool isHead = false);
    /// True when the peer closes, or resets, within `limit`.
    bool isClosedWithin(std::chrono::milliseconds limit);
    void shutdownSending();
    void close() { m_socket.reset(); }
    int socket() const { return m_socket.get(); }
    bool isOpen() const { return static_cast<bool>(m_socket); }

private:
    bool more();
    UniqueFd m_socket;
    std::string m_buffer;
};

/// Asks until the answer is yes, for at most ten seconds.
bool eventually(const std::function<bool()>& isSo);

/// The status of a reply's first line; 0 when there is none.
int statusOf(const std::string& reply);

} // namespace assay::test
