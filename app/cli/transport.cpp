// SPDX-License-Identifier: Apache-2.0
#include "app/cli/transport.h"

#include "server/core/digest.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <netdb.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

namespace assay::cli {

namespace {

using namespace std::chrono_literals;

std::unexpected<Error> unreachable(const ServerAddress& address, std::string_view why)
{
    return fail(ErrorCode::Unavailable, "the server " + address.text() + " cannot be reached: " + std::string(why) +
                                            "; is it running, and is ASSAY_URL right?");
}

/// 0, or the errno of connect(2).
int startConnect(const UniqueFd& fd, const sockaddr* address, socklen_t size)
{
    return ::connect(fd.get(), address, size) == 0 ? 0 : errno;
}

UniqueFd newSocket(int family) { return UniqueFd(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)); }

std::string tlsFault()
{
    const unsigned long code = ERR_peek_last_error();
    ERR_clear_error();
    const char* reason = code ? ERR_reason_error_string(code) : nullptr;
    return reason ? reason : "the connection broke";
}

struct AddressList
{
    addrinfo* first = nullptr;
    ~AddressList()
    {
        if (first)
            ::freeaddrinfo(first);
    }
};

} // namespace

struct Transport::Tls
{
    SSL_CTX* context = SSL_CTX_new(TLS_client_method());
    SSL* session = nullptr;

    Tls() = default;
    Tls(const Tls&) = delete;
    Tls& operator=(const Tls&) = delete;
    ~Tls()
    {
        SSL_free(session);
        SSL_CTX_free(context);
    }

    Result<void> prepare(const ServerAddress& address, const TlsTrust& trust);
    Result<void> checkPeer(const TlsTrust& trust) const;
};

Result<void> Transport::Tls::prepare(const ServerAddress& address, const TlsTrust& trust)
{
    if (!context)
        return fail(ErrorCode::Internal, "TLS could not be set up", tlsFault());
    SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
    const bool pinned = !trust.fingerprint.empty();
    SSL_CTX_set_verify(context, pinned ? SSL_VERIFY_NONE : SSL_VERIFY_PEER, nullptr);
    if (!trust.ca.empty() && SSL_CTX_load_verify_locations(context, trust.ca.c_str(), nullptr) != 1)
        return fail(ErrorCode::InvalidArgument, "no certificate can be read from " + trust.ca.string());
    if (trust.ca.empty() && !pinned)
        SSL_CTX_set_default_verify_paths(context);
    session = SSL_new(context);
    if (!session)
        return fail(ErrorCode::Internal, "TLS could not be set up", tlsFault());
    X509_VERIFY_PARAM* rules = SSL_get0_param(session);
    if (X509_VERIFY_PARAM_set1_ip_asc(rules, address.host.c_str()) != 1) {
        SSL_set1_host(session, address.host.c_str());
        // What SSL_set_tlsext_host_name does, without its C cast.
        SSL_ctrl(session, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name,
                 const_cast<char*>(address.host.c_str()));
    }
    return {};
}

Result<void> Transport::Tls::checkPeer(const TlsTrust& trust) const
{
    if (trust.fingerprint.empty())
        return {};
    X509* certificate = SSL_get0_peer_certificate(session);
    unsigned char* der = nullptr;
    const int size = certificate ? i2d_X509(certificate, &der) : -1;
    const bool same =
        size > 0 && Digest::ofBytes({reinterpret_cast<const char*>(der), static_cast<std::size_t>(size)}).hex() ==
                        trust.fingerprint;
    OPENSSL_free(der);
    if (!same)
        return fail(ErrorCode::Unavailable, "the server's certificate is not the pinned one (--fingerprint, "
                                            "ASSAY_FINGERPRINT); somebody may be in between, or it was renewed");
    return {};
}

Transport::Transport(UniqueFd fd, const std::atomic<bool>* interrupted)
    : m_fd(std::move(fd)), m_interrupted(interrupted)
{}

Transport::~Transport() = default;

Result<void> Transport::wait(short events, Deadline deadline) const
{
    // In slices: a signal that arrives just before poll(2) would not wake it.
    constexpr auto kSlice = 200ms;
    while (true) {
        if (m_interrupted && m_interrupted->load())
            return fail(ErrorCode::Cancelled, "interrupted");
        const auto left =
            std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
        if (left <= 0ms)
            return fail(ErrorCode::Timeout, "the server did not answer in time");
        pollfd one{m_fd.get(), events, 0};
        const int ready = ::poll(&one, 1, static_cast<int>(std::min(left, std::chrono::milliseconds(kSlice)).count()));
        if (ready > 0)
            return {};
        if (ready < 0 && errno != EINTR)
            return failErrno("poll", errno);
    }
}

Result<void> Transport::tlsWait(int code, Deadline deadline) const
{
    switch (SSL_get_error(m_tls->session, code)) {
    case SSL_ERROR_WANT_READ:
        return wait(POLLIN, deadline);
    case SSL_ERROR_WANT_WRITE:
        return wait(POLLOUT, deadline);
    default:
        return fail(ErrorCode::Unavailable, "the TLS connection failed: " + tlsFault());
    }
}

Result<void> Transport::startTls(const ServerAddress& address, const TlsTrust& trust, Deadline deadline)
{
    m_tls = std::make_unique<Tls>();
    if (auto ready = m_tls->prepare(address, trust); !ready)
        return ready;
    SSL_set_fd(m_tls->session, m_fd.get());
    ERR_clear_error();
    for (int code = 0; (code = SSL_connect(m_tls->session)) != 1;) {
        if (const long verdict = SSL_get_verify_result(m_tls->session);
            verdict != X509_V_OK && trust.fingerprint.empty())
            return unreachable(address, std::string("its certificate is not trusted (") +
                                            X509_verify_cert_error_string(verdict) +
                                            "); name its authority with --ca or pin it with --fingerprint");
        if (auto more = tlsWait(code, deadline); !more)
            return more.error().code == ErrorCode::Unavailable ? unreachable(address, more.error().message) : more;
    }
    return m_tls->checkPeer(trust);
}

namespace {

Result<UniqueFd> connectUnix(const ServerAddress& address)
{
    UniqueFd fd = newSocket(AF_UNIX);
    if (!fd)
        return failErrno("socket", errno);
    sockaddr_un where{};
    where.sun_family = AF_UNIX;
    std::memcpy(where.sun_path, address.path.data(), std::min(address.path.size(), sizeof where.sun_path - 1));
    if (const int fault = startConnect(fd, reinterpret_cast<const sockaddr*>(&where), sizeof where); fault != 0)
        return unreachable(address, std::strerror(fault));
    return fd;
}

Result<void> resolve(const ServerAddress& address, AddressList& list)
{
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_ADDRCONFIG | AI_NUMERICSERV;
    const int fault = ::getaddrinfo(address.host.c_str(), address.port.c_str(), &hints, &list.first);
    if (fault != 0)
        return unreachable(address, ::gai_strerror(fault));
    return {};
}

} // namespace

Result<std::unique_ptr<Transport>> Transport::connect(const ServerAddress& address, const TlsTrust& trust,
                                                      Deadline deadline, const std::atomic<bool>* interrupted)
{
    if (address.scheme == ServerAddress::Scheme::Unix) {
        auto fd = connectUnix(address);
        if (!fd)
            return forward(fd);
        return std::unique_ptr<Transport>(new Transport(std::move(*fd), interrupted));
    }
    AddressList list;
    if (auto found = resolve(address, list); !found)
        return forward(found);
    Error last;
    for (const addrinfo* one = list.first; one; one = one->ai_next) {
        auto made = connectOne(address, one, deadline, interrupted);
        if (made && address.scheme == ServerAddress::Scheme::Https) {
            if (auto secure = (*made)->startTls(address, trust, deadline); !secure)
                return forward(secure);
        }
        if (made || made.error().code != ErrorCode::Unavailable)
            return made;
        last = made.error();
    }
    return std::unexpected(last);
}

Result<std::unique_ptr<Transport>> Transport::connectOne(const ServerAddress& address, const addrinfo* one,
                                                         Deadline deadline, const std::atomic<bool>* interrupted)
{
    UniqueFd fd = newSocket(one->ai_family);
    if (!fd)
        return failErrno("socket", errno);
    const int on = 1;
    ::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    int fault = startConnect(fd, one->ai_addr, one->ai_addrlen);
    std::unique_ptr<Transport> out(new Transport(std::move(fd), interrupted));
    if (fault == EINPROGRESS) {
        if (auto ready = out->wait(POLLOUT, deadline); !ready)
            return ready.error().code == ErrorCode::Timeout ? unreachable(address, "no answer in time")
                                                            : std::unexpected(ready.error());
        socklen_t size = sizeof fault;
        ::getsockopt(out->m_fd.get(), SOL_SOCKET, SO_ERROR, &fault, &size);
    }
    if (fault != 0)
        return unreachable(address, std::strerror(fault));
    return out;
}

Result<std::size_t> Transport::read(char* bytes, std::size_t size, Deadline deadline)
{
    while (true) {
        if (m_tls) {
            ERR_clear_error();
            const int count = SSL_read(m_tls->session, bytes, static_cast<int>(std::min<std::size_t>(size, 1 << 20)));
            if (count > 0)
                return static_cast<std::size_t>(count);
            if (SSL_get_error(m_tls->session, count) == SSL_ERROR_ZERO_RETURN)
                return 0;
            if (auto more = tlsWait(count, deadline); !more)
                return forward(more);
            continue;
        }
        const ssize_t count = ::recv(m_fd.get(), bytes, size, 0);
        if (count >= 0)
            return static_cast<std::size_t>(count);
        if (errno != EAGAIN && errno != EINTR)
            return fail(ErrorCode::Unavailable,
                        std::string("the connection to the server broke: ") + std::strerror(errno));
        if (auto more = wait(POLLIN, deadline); !more)
            return forward(more);
    }
}

Result<std::size_t> Transport::write(const char* bytes, std::size_t size, Deadline deadline)
{
    while (true) {
        if (m_tls) {
            ERR_clear_error();
            const int count = SSL_write(m_tls->session, bytes, static_cast<int>(std::min<std::size_t>(size, 1 << 16)));
            if (count > 0)
                return static_cast<std::size_t>(count);
            if (auto more = tlsWait(count, deadline); !more)
                return forward(more);
            continue;
        }
        const ssize_t count = ::send(m_fd.get(), bytes, size, MSG_NOSIGNAL);
        if (count > 0)
            return static_cast<std::size_t>(count);
        if (errno != EAGAIN && errno != EINTR)
            return fail(ErrorCode::Unavailable,
                        std::string("the connection to the server broke: ") + std::strerror(errno));
        if (auto more = wait(POLLOUT, deadline); !more)
            return forward(more);
    }
}

} // namespace assay::cli
