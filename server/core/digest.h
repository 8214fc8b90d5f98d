// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/error.h"

#include <array>
#include <compare>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace assay {

/// A SHA-256 value (FIPS 180-4). Its text form everywhere is "sha256:" and 64 lower-case hex digits.
class Digest
{
public:
    static constexpr std::size_t kBytes = 32;

    Digest() = default;
    explicit Digest(const std::array<unsigned char, kBytes>& bytes) : m_bytes(bytes) {}

    /// Reads the text form; `InvalidArgument` for anything else, upper case included.
    static Result<Digest> parse(std::string_view text);
    /// From 32 raw bytes; `InvalidArgument` for another length.
    static Result<Digest> fromBytes(std::string_view raw);
    static Digest ofBytes(std::string_view bytes);

    std::string text() const;
    std::string hex() const;
    std::string_view bytes() const { return {reinterpret_cast<const char*>(m_bytes.data()), kBytes}; }

    auto operator<=>(const Digest&) const = default;

private:
    std::array<unsigned char, kBytes> m_bytes{};
};

/// Hashes a stream piece by piece. One thread at a time.
class Sha256
{
public:
    Sha256();
    ~Sha256();
    Sha256(Sha256&&) noexcept;
    Sha256& operator=(Sha256&&) noexcept;

    Sha256& update(std::string_view bytes);
    /// Ends the stream; the object then starts a new one.
    Digest finish();

private:
    struct State;
    std::unique_ptr<State> m_state;
};

/// Lower-case hex of any bytes.
std::string toHex(std::string_view bytes);

/// HMAC-SHA256 (RFC 2104) of `message` under `key`.
Digest hmacSha256(std::string_view key, std::string_view message);

/// Compares without telling through time where the first difference is. False at once for different lengths.
bool equalInConstantTime(std::string_view a, std::string_view b);

} // namespace assay
