// SPDX-License-Identifier: Apache-2.0
#include "server/http/body_receiver.h"

#include "server/core/file_io.h"
#include "server/http/offload.h"

#include <algorithm>
#include <chrono>
#include <string>

namespace assay::http {

namespace asio = boost::asio;

namespace {

constexpr std::size_t kReadBytes = 64 * 1024;
constexpr std::size_t kSpoolBytes = 256 * 1024;
/// More than this without progress is no chunk header and no trailer that anybody needs.
constexpr std::size_t kMaxUnparsed = 16 * 1024;

BodyFailure answer(ErrorCode code, std::string message) { return {Error{code, std::move(message), {}, {}, {}}}; }

} // namespace

BodyReceiver::~BodyReceiver() { m_state.bodyMemory -= m_reserved; }

std::optional<BodyFailure> BodyReceiver::reserve(std::uint64_t bytes)
{
    m_state.bodyMemory += bytes;
    m_reserved += bytes;
    if (m_state.bodyMemory > m_state.limits.bodyMemoryBytes)
        return answer(ErrorCode::Unavailable,
                      "the server holds as many request bodies as its memory allows; try again");
    return std::nullopt;
}

asio::awaitable<std::expected<api::Body, BodyFailure>>
BodyReceiver::receive(RequestParser& parser, std::string& pending, api::BodyPolicy policy)
{
    m_policy = policy;
    m_start = std::chrono::steady_clock::now();
    while (!parser.isDone())
        if (auto failure = co_await step(parser, pending))
            co_return std::unexpected(std::move(*failure));
    if (auto failure = co_await store(0, true))
        co_return std::unexpected(std::move(*failure));
    co_return std::move(m_body);
}

/// Parses what is there, stores it, and reads more when the body goes on.
asio::awaitable<std::optional<BodyFailure>> BodyReceiver::step(RequestParser& parser, std::string& pending)
{
    std::string& target = m_policy.toFile ? m_spooled : m_body.bytes;
    const std::size_t before = target.size();
    auto used = parser.feedBody(pending, target);
    if (!used)
        co_return BodyFailure{std::move(used).error()};
    pending.erase(0, *used);
    if (auto failure = co_await store(target.size() - before, false))
        co_return failure;
    if (parser.isDone())
        co_return std::nullopt;
    if (pending.size() > kMaxUnparsed)
        co_return answer(ErrorCode::InvalidArgument, "a chunk header or trailer of the body is longer than 16 KiB");
    const auto rate = std::max<std::uint64_t>(m_state.limits.minBytesPerSecond, 1);
    const std::chrono::milliseconds earned(m_body.sizeBytes * 1000 / rate);
    const auto deadline = std::min(m_start + earned, std::chrono::steady_clock::now()) + m_state.limits.bodyGrace;
    const auto outcome = co_await m_connection.read(pending, kReadBytes, deadline);
    if (outcome == Connection::Outcome::Ok)
        co_return std::nullopt;
    if (outcome == Connection::Outcome::TimedOut)
        m_state.observer.onRefused("body_timeout");
    co_return BodyFailure{};
}

asio::awaitable<std::optional<BodyFailure>> BodyReceiver::store(std::size_t arrived, bool last)
{
    m_body.sizeBytes += arrived;
    if (m_body.sizeBytes > m_policy.limitBytes)
        co_return answer(ErrorCode::TooLarge, "the body is larger than the " + std::to_string(m_policy.limitBytes) +
                                                  " bytes that this request may have");
    if (!m_policy.toFile) {
        if (auto failure = reserve(arrived))
            co_return failure;
    } else if (m_spooled.size() >= kSpoolBytes || (last && (!m_spooled.empty() || !m_body.file))) {
        co_return co_await spool();
    }
    // A client that sends faster than we read must not keep its reactor's other connections waiting.
    if ((m_sinceYield += arrived) >= kSpoolBytes) {
        m_sinceYield = 0;
        co_await asio::post(asio::use_awaitable);
    }
    co_return std::nullopt;
}

asio::awaitable<std::optional<BodyFailure>> BodyReceiver::spool()
{
    Result<void> written;
    auto job = [&] {
        if (!m_body.file) {
            auto file = openUnnamedFile(m_state.spoolDirectory);
            if (!file) {
                written = forward(file);
                return;
            }
            m_body.file = std::move(*file);
        }
        written = writeAll(m_body.file.get(), m_spooled);
    };
    if (!co_await offload(m_state.pool, job))
        co_return answer(ErrorCode::Unavailable, "the server is busy; try again");
    m_spooled.clear();
    if (!written)
        co_return BodyFailure{std::move(written).error()};
    co_return std::nullopt;
}

} // namespace assay::http
