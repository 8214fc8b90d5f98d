// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/sandbox/channel/payload.h"
#include "server/sandbox/channel/protocol.h"

#include <cstdint>
#include <span>
#include <string_view>

namespace assay::sandbox::init {

struct Frame
{
    channel::FrameType type{};
    std::uint32_t stream = 0;
    std::string_view payload; ///< valid until the next call of `Link::next` or `Link::receive`
};

/// The box's end of the channel: frames in from descriptor 0, frames out to descriptor 1, through fixed buffers. Both
/// descriptors are non-blocking. One thread.
class Link
{
public:
    enum class State : std::uint8_t { Open, Closed, Violated };

    Link();

    /// Reads what is there. Closed at the end of the channel.
    State receive();
    /// Takes the next whole frame off the buffer; false when there is none. A frame that is too large violates the
    /// protocol and turns the state.
    bool next(Frame& frame);

    /// Room for payload of a further frame, its header taken off; 0 when there is none.
    std::size_t space() const;
    /// Appends one frame. The caller has seen that there is space; without it the state turns to Violated.
    void send(channel::FrameType type, std::uint32_t stream, std::string_view payload);

    /// Appends a frame whose payload the caller writes in place: `reserve` gives the buffer for at most `size` bytes of
    /// payload, `commit` says how many there are.
    std::span<char> reserve(std::size_t size);
    void commit(channel::FrameType type, std::uint32_t stream, std::size_t size);

    /// Writes what the channel takes now.
    State flush();
    /// Waits until there is space for a whole frame, at most a minute without progress; then the channel counts as
    /// closed.
    State makeSpace();

    bool hasOutput() const { return m_outBegin != m_outEnd; }
    State state() const { return m_state; }

private:
    static constexpr std::size_t kInBytes = 2 * (channel::kMaxPayload + channel::kHeaderBytes);
    static constexpr std::size_t kOutBytes = 8 * (channel::kMaxPayload + channel::kHeaderBytes);

    void compact();

    State m_state = State::Open;
    std::size_t m_inBegin = 0;
    std::size_t m_inEnd = 0;
    std::size_t m_outBegin = 0;
    std::size_t m_outEnd = 0;
    char m_in[kInBytes];
    char m_out[kOutBytes];
};

} // namespace assay::sandbox::init
