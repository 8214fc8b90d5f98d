// SPDX-License-Identifier: Apache-2.0
#include "server/sandbox/channel/client.h"

#include "server/sandbox/channel/payload.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <poll.h>
#include <sys/socket.h>

namespace assay::sandbox::channel {

namespace {

constexpr std::size_t kMaxQueued = 4 * 1024 * 1024;
constexpr std::size_t kInBytes = 4 * (kMaxPayload + kHeaderBytes);

bool comesFromBox(FrameType type)
{
    const auto value = static_cast<std::uint8_t>(type);
    return (value >= static_cast<std::uint8_t>(FrameType::Hello) &&
            value <= static_cast<std::uint8_t>(FrameType::Usage)) ||
           type == FrameType::Credit;
}

/// Milliseconds for poll(2), rounded up so that a wait is never cut into many of none.
int patience(Client::Deadline deadline)
{
    const auto left = deadline - std::chrono::steady_clock::now();
    if (left <= left.zero())
        return 0;
    const auto ms = std::chrono::ceil<std::chrono::milliseconds>(left).count();
    return static_cast<int>(std::min<decltype(ms)>(ms, 60'000));
}

} // namespace

Client::Client(int fd) : m_fd(fd), m_in(kInBytes) {}

std::unexpected<Error> Client::breakOff(std::string detail)
{
    m_broken = true;
    return fail(ErrorCode::Unavailable, "the box has ended; start another run", std::move(detail));
}

Result<void> Client::send(FrameType type, std::uint32_t stream, std::string_view payload)
{
    if (m_broken)
        return breakOff("send on a channel that has ended");
    if (payload.size() > kMaxPayload || m_out.size() - m_outBegin + payload.size() > kMaxQueued)
        return fail(ErrorCode::Internal, "the server failed", "channel: a frame or its queue is too large");
    std::array<char, kHeaderBytes> header;
    PayloadWriter(header)
        .number(static_cast<std::uint32_t>(payload.size()))
        .number(static_cast<std::uint8_t>(type))
        .number(stream);
    m_out.append(header.data(), header.size()).append(payload);
    return {};
}

Result<void> Client::writeSome()
{
    while (m_outBegin < m_out.size()) {
        const ssize_t wrote =
            ::send(m_fd, m_out.data() + m_outBegin, m_out.size() - m_outBegin, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote < 0 && errno == EAGAIN)
            return {};
        // The reason may still lie in what the box sent before; the reading side tells the end.
        if (wrote < 0)
            break;
        m_outBegin += static_cast<std::size_t>(wrote);
    }
    m_out.clear();
    m_outBegin = 0;
    return {};
}

Result<void> Client::readSome()
{
    if (m_inBegin > 0) {
        std::memmove(m_in.data(), m_in.data() + m_inBegin, m_inEnd - m_inBegin);
        m_inEnd -= m_inBegin;
        m_inBegin = 0;
    }
    if (m_inEnd == m_in.size())
        return {};
    const ssize_t got = ::recv(m_fd, m_in.data() + m_inEnd, m_in.size() - m_inEnd, MSG_DONTWAIT);
    if (got > 0)
        m_inEnd += static_cast<std::size_t>(got);
    else if (got == 0)
        return breakOff("channel: the box closed it");
    else if (errno != EAGAIN && errno != EINTR)
        return breakOff("channel: recv: " + std::to_string(errno));
    return {};
}

Result<std::optional<Client::Frame>> Client::parse()
{
    const std::string_view bytes(m_in.data() + m_inBegin, m_inEnd - m_inBegin);
    if (bytes.size() < kHeaderBytes)
        return std::nullopt;
    PayloadReader header(bytes.substr(0, kHeaderBytes));
    const auto size = header.number<std::uint32_t>();
    const auto type = static_cast<FrameType>(header.number<std::uint8_t>());
    const auto stream = header.number<std::uint32_t>();
    if (size > kMaxPayload || !comesFromBox(type))
        return breakOff("channel: a frame of " + std::to_string(size) + " bytes and type " +
                        std::to_string(static_cast<int>(type)));
    if (bytes.size() < kHeaderBytes + size)
        return std::nullopt;
    m_inBegin += kHeaderBytes + size;
    return Frame{type, stream, bytes.substr(kHeaderBytes, size)};
}

Result<Client::Wait> Client::wait(Deadline deadline, int wakeFd, short events)
{
    for (;;) {
        std::array<pollfd, 2> all{{{m_fd, events, 0}, {wakeFd, POLLIN, 0}}};
        const int timeout = patience(deadline);
        const int ready = ::poll(all.data(), all.size(), timeout);
        if (ready < 0 && errno != EINTR)
            return breakOff("channel: poll: " + std::to_string(errno));
        if (ready > 0 && all[0].revents != 0)
            return Wait::Ready;
        if ((ready > 0 && all[1].revents != 0) || (ready == 0 && patience(deadline) == 0))
            return Wait::Over;
    }
}

Result<std::optional<Client::Frame>> Client::next(Deadline deadline, int wakeFd)
{
    if (m_broken)
        return breakOff("next on a channel that has ended");
    for (;;) {
        if (auto wrote = writeSome(); !wrote)
            return forward(wrote);
        auto frame = parse();
        if (!frame || *frame)
            return frame;
        const bool pending = m_outBegin < m_out.size();
        auto waited = wait(deadline, wakeFd, static_cast<short>(POLLIN | (pending ? POLLOUT : 0)));
        if (!waited)
            return forward(waited);
        if (*waited == Wait::Over)
            return std::nullopt;
        if (auto read = readSome(); !read)
            return forward(read);
    }
}

Result<void> Client::flush(Deadline deadline)
{
    if (m_broken)
        return breakOff("flush on a channel that has ended");
    for (;;) {
        if (auto wrote = writeSome(); !wrote || m_outBegin >= m_out.size())
            return wrote;
        // Reading as well keeps a box that has something to say from waiting for us while we wait for it.
        const bool room = m_inEnd - m_inBegin < m_in.size();
        auto waited = wait(deadline, -1, static_cast<short>(POLLOUT | (room ? POLLIN : 0)));
        if (!waited)
            return forward(waited);
        if (*waited == Wait::Over) {
            m_broken = true;
            return fail(ErrorCode::Timeout, "the box does not take what it is sent", "channel: flush");
        }
        if (auto read = readSome(); !read)
            return read;
    }
}

} // namespace assay::sandbox::channel
