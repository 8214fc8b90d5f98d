// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/error.h"
#include "server/sandbox/channel/protocol.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::sandbox::channel {

/// The server's end of a box's channel: whole frames out and in, each wait with a deadline. Trusts nothing that comes
/// out of the box: an oversize or unknown frame breaks the channel off. After the first failure every call answers
/// `Unavailable`. One thread.
class Client
{
public:
    using Deadline = std::chrono::steady_clock::time_point;

    struct Frame
    {
        FrameType type{};
        std::uint32_t stream = 0;
        std::string_view payload; ///< valid until the next call of `next` or `flush`
    };

    /// `fd` is a connected stream socket, blocking or not; it stays the caller's.
    explicit Client(int fd);

    /// Queues one frame; `next` and `flush` write. `Internal` when the payload is over 64 KiB or over 4 MiB wait.
    Result<void> send(FrameType type, std::uint32_t stream, std::string_view payload);

    /// The next frame; nothing when `deadline` passed or `wakeFd` (-1: none) became readable first. A frame that is
    /// there already is answered before either: a caller that has to stop looks at the time itself.
    Result<std::optional<Frame>> next(Deadline deadline, int wakeFd = -1);

    /// Writes all that is queued. `Timeout` after the deadline, and then the channel is broken off.
    Result<void> flush(Deadline deadline);

    bool isBroken() const { return m_broken; }
    /// Ends the use of the channel: what has come is out of step with what was asked.
    std::unexpected<Error> breakOff(std::string detail);

private:
    enum class Wait : std::uint8_t { Ready, Over };

    Result<void> writeSome();
    Result<void> readSome();
    Result<std::optional<Frame>> parse();
    Result<Wait> wait(Deadline deadline, int wakeFd, short events);

    int m_fd;
    bool m_broken = false;
    std::string m_out;
    std::size_t m_outBegin = 0;
    std::vector<char> m_in;
    std::size_t m_inBegin = 0;
    std::size_t m_inEnd = 0;
};

} // namespace assay::sandbox::channel
