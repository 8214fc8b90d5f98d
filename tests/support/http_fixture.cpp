// SPDX-License-Identifier: Apache-2.0
#include "tests/support/http_fixture.h"

#include "server/core/json.h"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <charconv>
#include <chrono>
#include <memory>
#include <netinet/in.h>
#include <poll.h>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <sys/un.h>
#include <thread>
#include <unistd.h>

namespace assay::test {

namespace {

class FakeSource final : public api::EventSource
{
public:
    FakeSource(FakeService& service, int events, std::uint64_t after)
        : m_service(service), m_events(events), m_next(after + 1)
    {
        ++m_service.liveSources;
    }
    ~FakeSource() override { --m_service.liveSources; }
    Batch read(std::size_t) override
    {
        Batch batch;
        if (m_events >= 0 && m_next > static_cast<std::uint64_t>(m_events)) {
            batch.ended = true;
            return batch;
        }
        if (m_events >= 0 || m_next == 1) {
            batch.events.push_back({m_next, "tick", R"({"n":)" + std::to_string(m_next) + "}"});
            ++m_next;
        }
        return batch;
    }
    void onReady(std::function<void()> notify) override
    {
        if (m_events >= 0)
            notify();
    }

private:
    FakeService& m_service;
    int m_events;
    std::uint64_t m_next;
};

class FakeAdmitted final : public api::Admitted
{
public:
    FakeAdmitted(FakeService& service, api::RequestHead head) : m_service(service), m_head(std::move(head)) {}
    std::string_view route() const override { return "/{fake}"; }
    api::BodyPolicy bodyPolicy() const override
    {
        return {.limitBytes = m_service.bodyLimit, .toFile = first() == "file"};
    }
    api::Reply handle(api::Body body) override
    {
        ++m_service.handled;
        {
            const std::scoped_lock lock(m_service.mutex);
            m_service.order.push_back(first());
        }
        if (first() == "throws")
            throw std::runtime_error("planted");
        if (first() == "slow")
            m_service.waitForRelease();
        if (first() == "events")
            return events();
        api::Reply reply;
        reply.headers.emplace_back("Content-Type", "application/json");
        if (first() == "big")
            reply.body = std::string(8U << 20, 'x');
        else if (first() == "huge") // more than the kernel's buffers hold
            reply.body = std::string(64U << 20, 'x');
        else
            reply.body = summary(body);
        return reply;
    }

private:
    std::string first() const { return m_head.segments.empty() ? "" : m_head.segments.front(); }
    api::Reply events() const
    {
        std::uint64_t after = 0;
        const auto last = m_head.header("last-event-id");
        std::from_chars(last.data(), last.data() + last.size(), after);
        api::Reply reply{.headers = {{"Content-Type", "text/event-stream"}}, .body = {}};
        reply.body = std::make_unique<FakeSource>(m_service, m_service.eventsPerStream, after);
        return reply;
    }
    std::string summary(const api::Body& body) const
    {
        json::array segments;
        for (const auto& segment : m_head.segments)
            segments.emplace_back(segment);
        json::object query;
        for (const auto& [name, value] : m_head.query)
            query[name] = value;
        std::string bytes = body.bytes;
        if (body.file) {
            bytes.resize(body.sizeBytes);
            bytes.resize(static_cast<std::size_t>(
                std::max<ssize_t>(::pread(body.file.get(), bytes.data(), bytes.size(), 0), 0)));
        }
        return json::serialize(
            json::object{{"method", static_cast<int>(m_head.method)},
                         {"segments", std::move(segments)},
                         {"query", std::move(query)},
                         {"size", body.sizeBytes},
                         {"trusted", m_head.trust == api::Trust::TrustedIngress},
                         {"body", bytes.size() <= 64 ? bytes : std::to_string(std::hash<std::string>{}(bytes))}});
    }

    FakeService& m_service;
    api::RequestHead m_head;
};

} // namespace

std::expected<std::unique_ptr<api::Admitted>, api::Reply> FakeService::admit(api::RequestHead head)
{
    ++admitted;
    if (head.header("authorization") == "Bearer wrong")
        return std::unexpected(problem(Error{ErrorCode::Unauthenticated, "no", {}, {}, {}}));
    if (!head.segments.empty() && head.segments.front() == "forbidden")
        return std::unexpected(problem(Error{ErrorCode::PermissionDenied, "no", {}, {}, {}}));
    return std::make_unique<FakeAdmitted>(*this, std::move(head));
}

api::Reply FakeService::problem(const Error& error)
{
    const ErrorTraits& row = traits(error.code);
    api::Reply reply{.status = row.httpStatus, .headers = {{"Content-Type", "application/problem+json"}}, .body = {}};
    reply.body =
        json::serialize(json::object{{"status", row.httpStatus}, {"code", row.code}, {"detail", error.message}});
    return reply;
}

void FakeService::release()
{
    const std::scoped_lock lock(mutex);
    m_isReleased = true;
    m_released.notify_all();
}

void FakeService::waitForRelease()
{
    std::unique_lock lock(mutex);
    m_released.wait_for(lock, std::chrono::seconds(10), [&] { return m_isReleased; });
}

void CountingObserver::onRequest(const Request& request)
{
    const std::scoped_lock lock(m_mutex);
    lastRoute = request.route;
    ++requests;
}

void CountingObserver::onRefused(std::string_view reason)
{
    const std::scoped_lock lock(m_mutex);
    ++m_refused[std::string(reason)];
}

void CountingObserver::onFault(std::string_view) { ++faults; }
void CountingObserver::onFatal(std::string_view) { faults += 1000; }

int CountingObserver::refusedFor(const std::string& reason)
{
    const std::scoped_lock lock(m_mutex);
    return m_refused[reason];
}

HttpFixture::~HttpFixture() { stop(); }

Result<void> HttpFixture::start(const std::string& listen)
{
    auto address = http::parseListenAddress(listen);
    if (!address)
        return forward(address);
    options.listeners.push_back({std::move(*address), &service});
    if (options.spoolDirectory.empty())
        options.spoolDirectory = std::filesystem::temp_directory_path();
    auto started = http::Server::start(options, pool, observer);
    if (!started)
        return forward(started);
    server = std::move(*started);
    return {};
}

void HttpFixture::stop(std::chrono::milliseconds deadline)
{
    if (server)
        server->stop(deadline);
}

std::uint16_t HttpFixture::port() const
{
    const std::string url = server->listening().front();
    return static_cast<std::uint16_t>(std::stoi(url.substr(url.rfind(':') + 1)));
}

RawClient::RawClient(std::uint16_t port)
{
    UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0)
        m_socket = std::move(socket);
}

RawClient::RawClient(const std::string& unixPath)
{
    UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    unixPath.copy(address.sun_path, sizeof(address.sun_path) - 1);
    if (::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0)
        m_socket = std::move(socket);
}

bool RawClient::send(std::string_view bytes)
{
    while (!bytes.empty()) {
        const auto count = ::send(m_socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (count <= 0)
            return false;
        bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    return true;
}

bool RawClient::more()
{
    pollfd entry{m_socket.get(), POLLIN, 0};
    if (::poll(&entry, 1, 10'000) <= 0)
        return false;
    std::array<char, 65536> chunk{};
    const auto count = ::recv(m_socket.get(), chunk.data(), chunk.size(), 0);
    if (count > 0)
        m_buffer.append(chunk.data(), static_cast<std::size_t>(count));
    return count > 0;
}

std::string RawClient::readAll()
{
    while (more()) {
    }
    return std::exchange(m_buffer, {});
}

std::string RawClient::readUntil(std::string_view stop)
{
    while (!m_buffer.contains(stop) && more()) {
    }
    const auto found = m_buffer.find(stop);
    const auto end = found == std::string::npos ? m_buffer.size() : found + stop.size();
    std::string out = m_buffer.substr(0, end);
    m_buffer.erase(0, end);
    return out;
}

std::string RawClient::readReply(bool isHead)
{
    std::string head = readUntil("\r\n\r\n");
    const auto field = head.find("Content-Length: ");
    if (isHead || field == std::string::npos)
        return head;
    const auto length = static_cast<std::size_t>(std::stoull(head.substr(field + 16)));
    while (m_buffer.size() < length && more()) {
    }
    head += m_buffer.substr(0, length);
    m_buffer.erase(0, length);
    return head;
}

bool RawClient::isClosedWithin(std::chrono::milliseconds limit)
{
    const auto deadline = std::chrono::steady_clock::now() + limit;
    std::array<char, 4096> chunk{};
    for (;;) {
        const auto left =
            std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
        pollfd entry{m_socket.get(), POLLIN, 0};
        if (left.count() <= 0 || ::poll(&entry, 1, static_cast<int>(left.count())) <= 0)
            return false;
        if (::recv(m_socket.get(), chunk.data(), chunk.size(), 0) <= 0)
            return true;
    }
}

void RawClient::shutdownSending() { ::shutdown(m_socket.get(), SHUT_WR); }

bool eventually(const std::function<bool()>& isSo)
{
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (!isSo()) {
        if (std::chrono::steady_clock::now() > deadline)
            return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return true;
}

int statusOf(const std::string& reply) { return reply.starts_with("HTTP/1.1 ") ? std::atoi(reply.c_str() + 9) : 0; }

} // namespace assay::test
