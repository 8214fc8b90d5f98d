// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/sandbox/box_driver.h"
#include "server/sandbox/channel/payload.h"
#include "server/sandbox/channel/protocol.h"

#include <array>
#include <string>
#include <sys/socket.h>

namespace assay::test {

/// A frame as bytes; the length may lie.
inline std::string frameBytes(std::uint8_t type, std::uint32_t stream, std::string_view payload,
                              std::optional<std::uint32_t> length = {})
{
    std::array<char, sandbox::channel::kHeaderBytes> header;
    sandbox::channel::PayloadWriter(header)
        .number(length.value_or(static_cast<std::uint32_t>(payload.size())))
        .number(type)
        .number(stream);
    return std::string(header.data(), header.size()).append(payload);
}

inline std::string frameBytes(sandbox::channel::FrameType type, std::uint32_t stream, std::string_view payload = {})
{
    return frameBytes(static_cast<std::uint8_t>(type), stream, payload);
}

/// Little-endian numbers one after the other.
template <typename... Integers> std::string numbers(Integers... values)
{
    std::array<char, 256> buffer;
    sandbox::channel::PayloadWriter writer(buffer);
    (writer.number(values), ...);
    return std::string(writer.view());
}

/// An init that says what a test has written down, whatever it is asked: all of it lies in the socket from the start.
class ScriptedInit final : public sandbox::BoxHandle
{
public:
    explicit ScriptedInit(std::string_view script)
    {
        int ends[2] = {-1, -1};
        (void)::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends);
        m_server.reset(ends[0]);
        peer.reset(ends[1]);
        say(script);
    }

    void say(std::string_view bytes)
    {
        const int size = 8 * 1024 * 1024;
        (void)::setsockopt(peer.get(), SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof size);
        while (!bytes.empty()) {
            const ssize_t wrote = ::send(peer.get(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
            if (wrote <= 0)
                return;
            bytes.remove_prefix(static_cast<std::size_t>(wrote));
        }
    }

    int channel() const override { return m_server.get(); }
    void kill() override
    {
        killed = true;
        peer.reset();
    }
    sandbox::BoxMeter meter() const override { return {}; }
    Result<void> destroy() override { return {}; }

    UniqueFd peer;
    bool killed = false;

private:
    UniqueFd m_server;
};

} // namespace assay::test
