// SPDX-License-Identifier: Apache-2.0
#include "server/http/transport.h"

#include <array>
#include <cerrno>
#include <sys/socket.h>
#include <sys/uio.h>

namespace assay::http {

namespace {

class PlainTransport final : public Transport
{
public:
    explicit PlainTransport(int socket) : m_socket(socket) {}

    Step handshake() override { return {Step::Kind::Moved, 0}; }

    Step read(std::span<char> into) override
    {
        const auto count = ::recv(m_socket, into.data(), into.size(), 0);
        return count == 0 ? Step{Step::Kind::Closed, 0} : told(count, Step::Kind::WantRead);
    }

    Step write(std::string_view first, std::string_view second) override
    {
        std::array<iovec, 2> pieces{
            {{const_cast<char*>(first.data()), first.size()}, {const_cast<char*>(second.data()), second.size()}}};
        msghdr message{};
        message.msg_iov = pieces.data();
        message.msg_iovlen = pieces.size();
        return told(::sendmsg(m_socket, &message, MSG_NOSIGNAL), Step::Kind::WantWrite);
    }

    bool mayHoldBytes() const override { return false; }

    void endSending() override { ::shutdown(m_socket, SHUT_WR); }

private:
    static Step told(ssize_t count, Step::Kind whenBlocked)
    {
        if (count >= 0)
            return {Step::Kind::Moved, static_cast<std::size_t>(count)};
        const bool again = errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
        return {again ? whenBlocked : Step::Kind::Failed, 0};
    }

    int m_socket;
};

} // namespace

std::unique_ptr<Transport> makePlainTransport(int socket) { return std::make_unique<PlainTransport>(socket); }

} // namespace assay::http
