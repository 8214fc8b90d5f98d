// SPDX-License-Identifier: Apache-2.0
#include "server/http/session.h"

#include "server/core/digest.h"
#include "server/core/request_context.h"
#include "server/http/exchange_state.h"
#include "server/http/offload.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>

namespace assay::http {

namespace asio = boost::asio;
using Outcome = Connection::Outcome;

namespace {

constexpr std::size_t kHeadReadBytes = 4096;

Connection::TimePoint now() { return std::chrono::steady_clock::now(); }

std::string_view methodName(api::Method method)
{
    constexpr std::array<std::string_view, 6> kNames{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"};
    return kNames[static_cast<std::size_t>(method)];
}

/// The last resort, when not even a problem document can be made.
api::Reply busyReply()
{
    api::Reply reply{
        .status = 503, .headers = {{"Content-Type", "application/problem+json"}, {"Retry-After", "1"}}, .body = {}};
    reply.body = R"({"type":"about:blank","title":"The service cannot do this now","status":503,"code":"unavailable",)"
                 R"("detail":"the server has more work queued than it takes; try again"})";
    return reply;
}

/// Runs on workers, where an exception would end the process.
template <typename Make> api::Reply guarded(Observer& observer, api::Service& service, Make make)
{
    std::string what = "an exception of an unknown type";
    try {
        return make();
    } catch (const std::exception& exception) {
        what = exception.what();
    } catch (...) {
    }
    observer.onFault(what);
    try {
        return service.problem({ErrorCode::Internal, "the server failed; the operator's log says why", {}, {}, {}});
    } catch (...) {
        return busyReply();
    }
}

} // namespace

Session::Session(asio::io_context& context, ServerState& state, const SessionOrigin& origin, UniqueFd socket,
                 std::string peer)
    : m_context(context),
      m_state(state),
      m_origin(origin),
      m_peer(std::move(peer)),
      m_connection(context, std::move(socket), origin.tls)
{
    m_state.observer.onConnections(+1);
}

Session::~Session()
{
    m_state.counts.remove(m_origin.trust == api::Trust::TrustedIngress ? std::string() : m_peer);
    m_state.observer.onConnections(-1);
}

void Session::drain()
{
    m_draining = true;
    if (m_betweenRequests && m_in.empty())
        m_connection.cancel();
}

asio::awaitable<void> Session::run()
{
    if (co_await m_connection.handshake(now() + m_state.limits.handshake) != Outcome::Ok) {
        m_state.observer.onRefused("handshake");
        co_return;
    }
    Next next = Next::Continue;
    while (next == Next::Continue)
        next = co_await serveOne();
    if (next == Next::Linger)
        co_await m_connection.linger(m_state.limits.linger);
}

asio::awaitable<Session::Next> Session::serveOne()
{
    HeadScan scan(m_state.limits.headBytes, m_state.limits.headFields);
    if (const Next next = co_await readHead(scan); next != Next::Continue)
        co_return next;
    ++m_requests;
    Exchange exchange;
    auto wire = exchange.parser.parseHead(std::string_view(m_in).substr(scan.begin(), scan.end() - scan.begin()));
    if (!wire)
        co_return co_await refuseHead(std::move(wire).error(), "malformed");
    m_in.erase(0, scan.end());
    auto judged = judgeRequest(*wire, m_origin.trust, m_state.limits.targetBytes);
    if (!judged)
        co_return co_await refuseHead(std::move(judged).error(), "malformed");
    exchange.request = std::move(*judged);
    exchange.method = methodName(exchange.request.head.method);
    exchange.isHead = exchange.request.head.method == api::Method::Head;
    exchange.contentLength = exchange.request.head.contentLength;
    exchange.bodyConsumed = !exchange.request.head.hasBody;
    co_return co_await serve(exchange);
}

asio::awaitable<Session::Next> Session::readHead(HeadScan& scan)
{
    // The first request of a connection gets no idle time: who connects has something to say.
    const auto patience = m_requests == 0 ? m_state.limits.head : m_state.limits.idle;
    auto deadline = now() + patience;
    bool started = false;
    for (;;) {
        const auto state = scan.advance(m_in);
        if (state == HeadScan::State::Complete)
            co_return Next::Continue;
        if (state == HeadScan::State::Refused)
            co_return co_await refuseHead(Error{scan.isTooLarge() ? ErrorCode::TooLarge : ErrorCode::InvalidArgument,
                                                std::string(scan.fault()),
                                                {},
                                                {},
                                                {}},
                                          "malformed");
        if (scan.hasStarted() && !started) {
            started = true;
            deadline = now() + m_state.limits.head;
        }
        if (m_draining && !started)
            co_return Next::Close;
        m_betweenRequests = !started;
        const auto outcome = co_await m_connection.read(m_in, kHeadReadBytes, deadline,
                                                        started ? Connection::First::Try : Connection::First::Wait);
        m_betweenRequests = false;
        if (outcome == Outcome::TimedOut && (started || m_requests == 0))
            m_state.observer.onRefused("head_timeout");
        if (outcome != Outcome::Ok)
            co_return Next::Close;
    }
}

asio::awaitable<Session::Next> Session::serve(Exchange& exchange)
{
    if (const auto wait = takeRate(exchange); wait.count() > 0) {
        m_state.observer.onRefused("rate");
        const auto seconds = std::to_string((wait.count() + 999) / 1000);
        Error error{ErrorCode::RateLimited, "too many requests; wait " + seconds + " s before the next", {}, {}, {}};
        exchange.reply.headers.emplace_back("Retry-After", seconds);
        co_return co_await refuse(exchange, std::move(error), Next::Continue);
    }
    if (!co_await admit(exchange)) {
        exchange.reply = busyReply();
    } else if (exchange.admitted) {
        if (const Next next = co_await takeBody(exchange); next != Next::Continue)
            co_return next;
    }
    noteAdmission(exchange);
    co_return co_await writeReply(exchange);
}

/// Admits, and handles in the same job when there is no body to wait for. False when no worker was free.
asio::awaitable<bool> Session::admit(Exchange& exchange)
{
    auto job = [&] {
        const RequestContext context(exchange.id);
        exchange.reply = guarded(m_state.observer, *m_origin.service, [&]() -> api::Reply {
            auto admitted = m_origin.service->admit(std::move(exchange.request.head));
            if (!admitted)
                return std::move(admitted).error();
            exchange.route = (*admitted)->route();
            if (exchange.bodyConsumed)
                return (*admitted)->handle({});
            exchange.admitted = std::move(*admitted);
            return {};
        });
    };
    co_return co_await offload(m_state.pool, job);
}

/// `Continue` when the request has been handled; otherwise it has been answered.
asio::awaitable<Session::Next> Session::takeBody(Exchange& exchange)
{
    const api::BodyPolicy policy = exchange.admitted->bodyPolicy();
    if (exchange.contentLength.value_or(0) > policy.limitBytes)
        co_return co_await refuse(exchange,
                                  Error{ErrorCode::TooLarge,
                                        "the body is larger than the " + std::to_string(policy.limitBytes) +
                                            " bytes that this request may have",
                                        {},
                                        {},
                                        {}},
                                  Next::Continue);
    if (exchange.request.expectContinue && m_in.empty()) {
        const auto sent = co_await m_connection.write("HTTP/1.1 100 Continue\r\n\r\n", {}, m_state.limits.writeGrace,
                                                      m_state.limits.minBytesPerSecond);
        if (sent != Outcome::Ok)
            co_return Next::Close;
    }
    exchange.request.expectContinue = false;
    exchange.body = std::make_unique<BodyReceiver>(m_state, m_connection);
    auto body = co_await exchange.body->receive(exchange.parser, m_in, policy);
    if (!body && !body.error().answer)
        co_return Next::Close;
    if (!body)
        co_return co_await refuse(exchange, std::move(*body.error().answer), Next::Linger);
    exchange.bodyConsumed = true;
    if (!co_await handle(exchange, std::move(*body)))
        exchange.reply = busyReply();
    co_return Next::Continue;
}

asio::awaitable<bool> Session::handle(Exchange& exchange, api::Body body)
{
    auto job = [&] {
        const RequestContext context(exchange.id);
        exchange.reply =
            guarded(m_state.observer, *m_origin.service, [&] { return exchange.admitted->handle(std::move(body)); });
        exchange.admitted.reset();
    };
    co_return co_await offload(m_state.pool, job);
}

/// Answers with a problem document; fields that the reply holds already are kept.
asio::awaitable<Session::Next> Session::refuse(Exchange& exchange, Error error, Next then)
{
    auto fields = std::move(exchange.reply.headers);
    auto job = [&] {
        const RequestContext context(exchange.id);
        exchange.reply = guarded(m_state.observer, *m_origin.service, [&] { return m_origin.service->problem(error); });
    };
    if (!co_await offload(m_state.pool, job))
        exchange.reply = busyReply();
    std::ranges::move(fields, std::back_inserter(exchange.reply.headers));
    const Next next = co_await writeReply(exchange);
    co_return next == Next::Continue ? then : next;
}

asio::awaitable<Session::Next> Session::refuseHead(Error error, std::string_view reason)
{
    m_state.observer.onRefused(reason);
    Exchange exchange;
    exchange.request.keepAlive = false;
    if (error.code == ErrorCode::MethodNotAllowed)
        exchange.reply.headers.emplace_back("Allow", kAllowedMethods);
    const Next next = co_await refuse(exchange, std::move(error), Next::Linger);
    co_return next == Next::Close ? Next::Close : Next::Linger;
}

/// An admitted token and a trusted ingress' principal have a bucket of their own; all else draws on its peer's.
std::chrono::milliseconds Session::takeRate(Exchange& exchange)
{
    const auto& head = exchange.request.head;
    if (m_origin.trust == api::Trust::TrustedIngress) {
        const std::string who =
            std::string(head.header("assay-scope")) + " " + std::string(head.header("assay-principal"));
        return m_state.tokenRate.take(who, now());
    }
    const auto authorization = head.header("authorization");
    if (!authorization.empty())
        exchange.tokenHash = Digest::ofBytes(authorization).hex();
    if (authorization.empty() || !m_state.knownTokens.contains(exchange.tokenHash))
        return m_state.peerRate.take(m_peer, now());
    return m_state.tokenRate.take(exchange.tokenHash, now());
}

void Session::noteAdmission(const Exchange& exchange)
{
    if (exchange.tokenHash.empty())
        return;
    if (exchange.reply.status == 401)
        m_state.knownTokens.forget(exchange.tokenHash);
    else
        m_state.knownTokens.remember(exchange.tokenHash);
}

} // namespace assay::http
