// SPDX-License-Identifier: Apache-2.0
#include "server/http/transport.h"

#include <array>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <string>
#include <sys/socket.h>

namespace assay::http {

namespace {

struct SslDeleter
{
    void operator()(SSL* ssl) const { SSL_free(ssl); }
};
using SslPointer = std::unique_ptr<SSL, SslDeleter>;

std::string lastError()
{
    std::array<char, 256> text{};
    ERR_error_string_n(ERR_get_error(), text.data(), text.size());
    ERR_clear_error();
    return text.data();
}

/// SIGPIPE is blocked on the threads that call this (see Reactor): OpenSSL writes with write(2).
class TlsTransport final : public Transport
{
public:
    TlsTransport(SslPointer ssl, int socket) : m_ssl(std::move(ssl)), m_socket(socket) {}

    Step handshake() override
    {
        ERR_clear_error();
        return told(SSL_accept(m_ssl.get()), 0);
    }

    Step read(std::span<char> into) override
    {
        std::size_t count = 0;
        ERR_clear_error();
        const int result = SSL_read_ex(m_ssl.get(), into.data(), into.size(), &count);
        return told(result, count);
    }

    Step write(std::string_view first, std::string_view second) override
    {
        if (first.empty())
            return writeOne(second);
        // A short head and the start of the body share a record: one record costs less than two.
        constexpr std::size_t kRecord = 16 * 1024;
        if (second.empty() || first.size() >= kRecord)
            return writeOne(first);
        m_joined.assign(first);
        m_joined += second.substr(0, kRecord - first.size());
        return writeOne(m_joined);
    }

    bool mayHoldBytes() const override { return SSL_has_pending(m_ssl.get()) == 1; }

    void endSending() override
    {
        ERR_clear_error();
        SSL_shutdown(m_ssl.get());
        ::shutdown(m_socket, SHUT_WR);
    }

private:
    Step writeOne(std::string_view bytes)
    {
        std::size_t count = 0;
        ERR_clear_error();
        const int result = SSL_write_ex(m_ssl.get(), bytes.data(), bytes.size(), &count);
        return told(result, count);
    }

    Step told(int result, std::size_t count)
    {
        if (result > 0)
            return {Step::Kind::Moved, count};
        switch (SSL_get_error(m_ssl.get(), result)) {
        case SSL_ERROR_WANT_READ:
            return {Step::Kind::WantRead, 0};
        case SSL_ERROR_WANT_WRITE:
            return {Step::Kind::WantWrite, 0};
        case SSL_ERROR_ZERO_RETURN:
            return {Step::Kind::Closed, 0};
        default:
            SSL_set_quiet_shutdown(m_ssl.get(), 1); // the state is undefined: no alert may follow
            return {Step::Kind::Failed, 0};
        }
    }

    SslPointer m_ssl;
    int m_socket;
    std::string m_joined;
};

void harden(SSL_CTX* context)
{
    SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
    SSL_CTX_set_options(context, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION | SSL_OP_CIPHER_SERVER_PREFERENCE);
    SSL_CTX_set_cipher_list(context, "ECDHE+AESGCM:ECDHE+CHACHA20");
    SSL_CTX_set_mode(context,
                     SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
}

} // namespace

Result<std::shared_ptr<TlsContext>> TlsContext::load(const std::filesystem::path& certificate,
                                                     const std::filesystem::path& key)
{
    SSL_CTX* handle = SSL_CTX_new(TLS_server_method());
    if (handle == nullptr)
        return fail(ErrorCode::Internal, "TLS could not be set up", lastError());
    std::shared_ptr<TlsContext> context(new TlsContext(handle));
    harden(handle);
    const auto refused = [](const std::filesystem::path& file, std::string_view what) {
        return fail(ErrorCode::InvalidArgument,
                    "the TLS " + std::string(what) + " " + file.string() + " cannot be used: " + lastError());
    };
    if (SSL_CTX_use_certificate_chain_file(handle, certificate.c_str()) != 1)
        return refused(certificate, "certificate");
    if (SSL_CTX_use_PrivateKey_file(handle, key.c_str(), SSL_FILETYPE_PEM) != 1 ||
        SSL_CTX_check_private_key(handle) != 1)
        return refused(key, "key");
    return context;
}

TlsContext::~TlsContext() { SSL_CTX_free(m_handle); }

std::unique_ptr<Transport> TlsContext::accept(int socket) const
{
    SslPointer ssl(SSL_new(m_handle));
    if (!ssl || SSL_set_fd(ssl.get(), socket) != 1)
        return nullptr;
    return std::make_unique<TlsTransport>(std::move(ssl), socket);
}

} // namespace assay::http
