// SPDX-License-Identifier: Apache-2.0
#include "server/core/digest.h"

#include <cstdlib>
#include <cstring>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

namespace assay {

namespace {

constexpr std::string_view kPrefix = "sha256:";

int hexValue(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return -1;
}

/// A provider look-up per hash would cost more than hashing a small file.
const EVP_MD* sha256()
{
    static const EVP_MD* md = EVP_MD_fetch(nullptr, "SHA256", nullptr);
    return md;
}

} // namespace

struct Sha256::State
{
    EVP_MD_CTX* context = EVP_MD_CTX_new();
    State() { start(); }
    ~State() { EVP_MD_CTX_free(context); }
    State(const State&) = delete;
    State& operator=(const State&) = delete;
    // Only memory exhaustion makes these fail, and a wrong digest must never be handed out.
    void start()
    {
        if (!context || EVP_DigestInit_ex2(context, sha256(), nullptr) != 1)
            std::abort();
    }
};

Sha256::Sha256() : m_state(std::make_unique<State>()) {}
Sha256::~Sha256() = default;
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;

Sha256& Sha256::update(std::string_view bytes)
{
    if (EVP_DigestUpdate(m_state->context, bytes.data(), bytes.size()) != 1)
        std::abort();
    return *this;
}

Digest Sha256::finish()
{
    std::array<unsigned char, Digest::kBytes> out{};
    if (EVP_DigestFinal_ex(m_state->context, out.data(), nullptr) != 1)
        std::abort();
    m_state->start();
    return Digest(out);
}

Result<Digest> Digest::parse(std::string_view text)
{
    if (!text.starts_with(kPrefix) || text.size() != kPrefix.size() + 2 * kBytes)
        return fail(ErrorCode::InvalidArgument, "a digest is \"sha256:\" and 64 lower-case hex digits");
    text.remove_prefix(kPrefix.size());
    std::array<unsigned char, kBytes> out{};
    for (std::size_t i = 0; i < kBytes; ++i) {
        const int high = hexValue(text[2 * i]);
        const int low = hexValue(text[2 * i + 1]);
        if (high < 0 || low < 0)
            return fail(ErrorCode::InvalidArgument, "a digest is \"sha256:\" and 64 lower-case hex digits");
        out[i] = static_cast<unsigned char>(high * 16 + low);
    }
    return Digest(out);
}

Result<Digest> Digest::fromBytes(std::string_view raw)
{
    if (raw.size() != kBytes)
        return fail(ErrorCode::InvalidArgument, "a SHA-256 digest has 32 bytes");
    std::array<unsigned char, kBytes> out{};
    std::memcpy(out.data(), raw.data(), kBytes);
    return Digest(out);
}

Digest Digest::ofBytes(std::string_view bytes) { return Sha256().update(bytes).finish(); }

std::string Digest::hex() const { return toHex(bytes()); }

std::string Digest::text() const { return std::string(kPrefix) + hex(); }

std::string toHex(std::string_view bytes)
{
    constexpr std::string_view digits = "0123456789abcdef";
    std::string out;
    out.reserve(bytes.size() * 2);
    for (const char c : bytes) {
        const auto byte = static_cast<unsigned char>(c);
        out += digits[byte >> 4];
        out += digits[byte & 15];
    }
    return out;
}

Digest hmacSha256(std::string_view key, std::string_view message)
{
    std::array<unsigned char, Digest::kBytes> out{};
    unsigned int length = 0;
    const auto* data = reinterpret_cast<const unsigned char*>(message.data());
    if (!HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), data, message.size(), out.data(), &length))
        std::abort();
    return Digest(out);
}

bool equalInConstantTime(std::string_view a, std::string_view b)
{
    return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

} // namespace assay
