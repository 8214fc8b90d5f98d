// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/error.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>

struct ssl_ctx_st;

namespace assay::http {

/// One non-blocking try to move bytes: how many, or what to wait for.
struct Step
{
    enum class Kind : std::uint8_t { Moved, WantRead, WantWrite, Closed, Failed };
    Kind kind = Kind::Failed;
    std::size_t bytes = 0;
};

/// Bytes over a connected, non-blocking socket, plain or through TLS. Does not own the descriptor and never waits.
/// Thread-confined.
class Transport
{
public:
    virtual ~Transport() = default;
    /// Done with `Moved`.
    virtual Step handshake() = 0;
    virtual Step read(std::span<char> into) = 0;
    virtual Step write(std::string_view first, std::string_view second) = 0;
    /// True when bytes may have been taken off the socket that `read` has not given yet: then waiting could last for
    /// ever.
    virtual bool mayHoldBytes() const = 0;
    /// Tells the peer that nothing follows; best effort.
    virtual void endSending() = 0;
};

std::unique_ptr<Transport> makePlainTransport(int socket);

/// The server's certificate and key; TLS 1.2 and 1.3 only. Thread-safe.
class TlsContext
{
public:
    /// PEM files: the chain, leaf first, and its key. The error names the file and what is wrong with it.
    static Result<std::shared_ptr<TlsContext>> load(const std::filesystem::path& certificate,
                                                    const std::filesystem::path& key);
    ~TlsContext();
    TlsContext(const TlsContext&) = delete;
    TlsContext& operator=(const TlsContext&) = delete;

    /// Null when OpenSSL is out of memory.
    std::unique_ptr<Transport> accept(int socket) const;

private:
    explicit TlsContext(ssl_ctx_st* handle) : m_handle(handle) {}
    ssl_ctx_st* m_handle;
};

} // namespace assay::http
