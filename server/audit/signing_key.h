// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/error.h"

#include <filesystem>
#include <string>
#include <string_view>

namespace assay::audit {

/// The server's Ed25519 key (RFC 8032), which signs the ledger's anchors: 32 bytes in a file of the data directory,
/// mode 0600, made once. A value; thread-safe.
class SigningKey
{
public:
    /// Reads the key, or makes it. `Unavailable` when the file is not one or others may read it.
    static Result<SigningKey> open(const std::filesystem::path& file);

    std::string sign(std::string_view message) const;         ///< 64 bytes
    const std::string& publicKey() const { return m_public; } ///< 32 bytes
    std::string id() const;

private:
    SigningKey(std::string secret, std::string publicKey) : m_secret(std::move(secret)), m_public(std::move(publicKey))
    {}
    std::string m_secret;
    std::string m_public;
};

/// The first 16 hex digits of SHA-256 over a public key: what anchors call it by.
std::string keyIdOf(std::string_view publicKey);

/// False too for a key or a signature of another length. Pure.
bool isSignedBy(std::string_view publicKey, std::string_view message, std::string_view signature);

} // namespace assay::audit
