// SPDX-License-Identifier: Apache-2.0
#include "server/sandbox/init/link.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

namespace assay::sandbox::init {

using channel::FrameType;
using channel::kHeaderBytes;
using channel::kMaxPayload;

namespace {

constexpr int kInput = 0;
constexpr int kOutput = 1;
constexpr int kStallMilliseconds = 60'000;

void prepare(int fd)
{
    ::fcntl(fd, F_SETFD, FD_CLOEXEC);
    ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
}

} // namespace

// The buffers stay uninitialized: pages nobody touched cost nothing.
// NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init)
Link::Link()
{
    prepare(kInput);
    prepare(kOutput);
}

Link::State Link::receive()
{
    if (m_inBegin > 0) {
        std::memmove(m_in, m_in + m_inBegin, m_inEnd - m_inBegin);
        m_inEnd -= m_inBegin;
        m_inBegin = 0;
    }
    const ssize_t got = ::read(kInput, m_in + m_inEnd, kInBytes - m_inEnd);
    if (got > 0)
        m_inEnd += static_cast<std::size_t>(got);
    else if (got == 0 || (errno != EAGAIN && errno != EINTR))
        m_state = State::Closed;
    return m_state;
}

bool Link::next(Frame& frame)
{
    const std::string_view bytes(m_in + m_inBegin, m_inEnd - m_inBegin);
    if (m_state != State::Open || bytes.size() < kHeaderBytes)
        return false;
    channel::PayloadReader header(bytes.substr(0, kHeaderBytes));
    const auto size = header.number<std::uint32_t>();
    frame.type = static_cast<FrameType>(header.number<std::uint8_t>());
    frame.stream = header.number<std::uint32_t>();
    if (size > kMaxPayload) {
        m_state = State::Violated;
        return false;
    }
    if (bytes.size() < kHeaderBytes + size)
        return false;
    frame.payload = bytes.substr(kHeaderBytes, size);
    m_inBegin += kHeaderBytes + size;
    return true;
}

std::size_t Link::space() const
{
    const std::size_t used = m_outEnd - m_outBegin;
    return kOutBytes - used > kHeaderBytes ? kOutBytes - used - kHeaderBytes : 0;
}

void Link::compact()
{
    if (m_outBegin == 0)
        return;
    std::memmove(m_out, m_out + m_outBegin, m_outEnd - m_outBegin);
    m_outEnd -= m_outBegin;
    m_outBegin = 0;
}

std::span<char> Link::reserve(std::size_t size)
{
    if (space() < size)
        return {};
    if (kOutBytes - m_outEnd < kHeaderBytes + size)
        compact();
    return {m_out + m_outEnd + kHeaderBytes, size};
}

void Link::commit(FrameType type, std::uint32_t stream, std::size_t size)
{
    channel::PayloadWriter({m_out + m_outEnd, kHeaderBytes})
        .number(static_cast<std::uint32_t>(size))
        .number(static_cast<std::uint8_t>(type))
        .number(stream);
    m_outEnd += kHeaderBytes + size;
}

void Link::send(FrameType type, std::uint32_t stream, std::string_view payload)
{
    if (space() < payload.size() || payload.size() > kMaxPayload) {
        m_state = State::Violated;
        return;
    }
    const auto place = reserve(payload.size());
    if (!payload.empty())
        std::memcpy(place.data(), payload.data(), payload.size());
    commit(type, stream, payload.size());
}

Link::State Link::flush()
{
    while (m_state == State::Open && hasOutput()) {
        const ssize_t wrote = ::write(kOutput, m_out + m_outBegin, m_outEnd - m_outBegin);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote < 0 && errno == EAGAIN)
            break;
        if (wrote < 0)
            m_state = State::Closed;
        else
            m_outBegin += static_cast<std::size_t>(wrote);
    }
    if (!hasOutput())
        m_outBegin = m_outEnd = 0;
    return m_state;
}

Link::State Link::makeSpace()
{
    while (m_state == State::Open && space() < kMaxPayload) {
        if (flush() != State::Open || space() >= kMaxPayload)
            break;
        pollfd waiting{kOutput, POLLOUT, 0};
        if (::poll(&waiting, 1, kStallMilliseconds) == 0)
            m_state = State::Closed;
    }
    return m_state;
}

} // namespace assay::sandbox::init
