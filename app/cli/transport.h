// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/cli/server_address.h"
#include "server/core/unique_fd.h"

#include <atomic>
#include <chrono>
#include <filesystem>
#include <memory>

struct addrinfo;

namespace assay::cli {

/// Whom to believe with https: one pinned certificate (its SHA-256 in hex), or the authorities of a PEM file, or, with
/// neither, the system's. Names are checked except for a pinned certificate.
struct TlsTrust
{
    std::filesystem::path ca;
    std::string fingerprint;
};

/// One connection to a server: TCP, TLS 1.2 or 1.3, or a UNIX socket. Blocks its caller until a deadline and no longer;
/// one thread at a time. Errors: `Unavailable` for a connection that cannot be made or broke, `Timeout` for a deadline,
/// `Cancelled` once `interrupted` is set.
class Transport
{
public:
    using Deadline = std::chrono::steady_clock::time_point;

    /// `interrupted` may be null; otherwise it outlives the transport and may be set by a signal handler.
    static Result<std::unique_ptr<Transport>> connect(const ServerAddress& address, const TlsTrust& trust,
                                                      Deadline deadline, const std::atomic<bool>* interrupted);
    ~Transport();

    /// At least one byte; 0 when the other side has ended the stream.
    Result<std::size_t> read(char* bytes, std::size_t size, Deadline deadline);
    /// At least one byte.
    Result<std::size_t> write(const char* bytes, std::size_t size, Deadline deadline);

private:
    struct Tls;
    Transport(UniqueFd fd, const std::atomic<bool>* interrupted);
    Result<void> wait(short events, Deadline deadline) const;
    Result<void> startTls(const ServerAddress& address, const TlsTrust& trust, Deadline deadline);
    /// After an OpenSSL call that returned `code`: waits for what it wants; an error otherwise.
    Result<void> tlsWait(int code, Deadline deadline) const;
    static Result<std::unique_ptr<Transport>> connectOne(const ServerAddress& address, const addrinfo* one,
                                                         Deadline deadline, const std::atomic<bool>* interrupted);

    UniqueFd m_fd;
    std::unique_ptr<Tls> m_tls;
    const std::atomic<bool>* m_interrupted;
};

} // namespace assay::cli
