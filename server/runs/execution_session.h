// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/auth/identity.h"
#include "server/core/clock.h"
#include "server/core/error.h"

#include <deque>
#include <filesystem>
#include <mutex>
#include <string>
#include <string_view>

namespace assay::runs {

/// Who executes what, normalized at one place (`sessionOf`): nothing else of a caller reaches the execution plane (E4).
struct ExecutionSession
{
    std::string scopeFingerprint;
    std::string principal;
    std::string tokenId; ///< empty for a trusted ingress and for the server itself
    auth::Surface surface = auth::Surface::Api;
    std::string run; ///< the one run it is good for

    bool operator==(const ExecutionSession&) const = default;
};

ExecutionSession sessionOf(const auth::Identity& by, std::string run);
/// The identity again, without roles: what the ledger records.
auth::Identity identityOf(const ExecutionSession& session);

/// Seals sessions into carriers and opens them (docs/execution-sessions.md): the fields above, an issue and an expiry
/// time and a nonce, under HMAC-SHA256 with a key of the data directory. Keys change once a day; an old one opens its
/// carriers until they expire. Carriers are for this server's own use and never leave it. Thread-safe.
class SessionSealer
{
public:
    static constexpr std::chrono::hours kLifetime{6};
    static constexpr std::chrono::hours kKeyAge{24};
    static constexpr std::size_t kMaxCarrierBytes = 2048;

    /// Reads the keys, or makes the first. An empty path keeps them in memory only. `Unavailable` when the file cannot
    /// be used or others may read it.
    static Result<std::unique_ptr<SessionSealer>> open(std::filesystem::path keyFile, const Clock& clock);

    /// `Refused` with `session_invalid` for a session without scope, principal or run: no identity, no capability.
    Result<std::string> seal(const ExecutionSession& session);
    /// `Refused` with `session_invalid` (forged, changed, truncated, of an unknown key) or `session_expired`. Compares
    /// in constant time.
    Result<ExecutionSession> open(std::string_view carrier);

private:
    struct Key
    {
        std::string id;
        Timestamp made;
        std::string secret;
    };
    SessionSealer(std::filesystem::path keyFile, const Clock& clock) : m_keyFile(std::move(keyFile)), m_clock(clock) {}
    Result<void> load();
    Result<void> rotate(Timestamp now);
    Result<Key> newest(Timestamp now);

    const std::filesystem::path m_keyFile;
    const Clock& m_clock;
    std::mutex m_mutex;
    std::deque<Key> m_keys; ///< newest first
};

} // namespace assay::runs
