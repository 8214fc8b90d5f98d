// SPDX-License-Identifier: Apache-2.0
#include "server/audit/signing_key.h"

#include "server/core/digest.h"
#include "server/core/file_io.h"
#include "server/core/random.h"

#include <cstdlib>
#include <memory>
#include <openssl/evp.h>
#include <sys/stat.h>

namespace assay::audit {

namespace {

constexpr std::size_t kKeyBytes = 32;
constexpr std::size_t kSignatureBytes = 64;
constexpr std::size_t kKeyIdDigits = 16;

using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
using Context = std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)>;

const unsigned char* bytesOf(std::string_view text) { return reinterpret_cast<const unsigned char*>(text.data()); }

Key privateKey(std::string_view secret)
{
    return {EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr, bytesOf(secret), secret.size()), &EVP_PKEY_free};
}

std::string publicKeyOf(std::string_view secret)
{
    const Key key = privateKey(secret);
    std::string out(kKeyBytes, '\0');
    std::size_t size = out.size();
    const bool done =
        key && EVP_PKEY_get_raw_public_key(key.get(), reinterpret_cast<unsigned char*>(out.data()), &size) == 1;
    return done ? out : std::string();
}

Result<void> checkMode(const std::filesystem::path& file)
{
    struct stat found{};
    if (::lstat(file.c_str(), &found) != 0)
        return failErrno("stat " + file.string(), errno);
    if (!S_ISREG(found.st_mode) || (found.st_mode & 0077) != 0)
        return fail(ErrorCode::Unavailable,
                    "the key that signs the audit ledger is open to other users; keep it with mode 0600",
                    file.string());
    return {};
}

} // namespace

Result<SigningKey> SigningKey::open(const std::filesystem::path& file)
{
    auto secret = readFile(file, kKeyBytes);
    if (!secret && secret.error().code == ErrorCode::NotFound) {
        secret = randomBytes(kKeyBytes);
        if (auto written = replaceFileDurably(file, *secret, 0600); !written)
            return forward(written);
    }
    if (secret && secret->size() != kKeyBytes)
        secret = fail(ErrorCode::Unavailable, "");
    if (!secret)
        return fail(
            ErrorCode::Unavailable,
            "the key that signs the audit ledger cannot be read; restore it from a backup of the data directory",
            file.string() + ": " + secret.error().detail);
    if (auto mode = checkMode(file); !mode)
        return forward(mode);
    std::string publicKey = publicKeyOf(*secret);
    if (publicKey.empty())
        return fail(ErrorCode::Internal, "the audit ledger's key cannot be used", "Ed25519");
    return SigningKey(std::move(*secret), std::move(publicKey));
}

std::string SigningKey::sign(std::string_view message) const
{
    const Key key = privateKey(m_secret);
    const Context context(EVP_MD_CTX_new(), &EVP_MD_CTX_free);
    std::string out(kSignatureBytes, '\0');
    std::size_t size = out.size();
    // Only memory exhaustion makes these fail, and a row must never go without its anchor in silence.
    if (!key || !context || EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, key.get()) != 1 ||
        EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(out.data()), &size, bytesOf(message),
                       message.size()) != 1)
        std::abort();
    return out;
}

std::string SigningKey::id() const { return keyIdOf(m_public); }

std::string keyIdOf(std::string_view publicKey) { return Digest::ofBytes(publicKey).hex().substr(0, kKeyIdDigits); }

bool isSignedBy(std::string_view publicKey, std::string_view message, std::string_view signature)
{
    if (publicKey.size() != kKeyBytes || signature.size() != kSignatureBytes)
        return false;
    const Key key(EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, bytesOf(publicKey), publicKey.size()),
                  &EVP_PKEY_free);
    const Context context(EVP_MD_CTX_new(), &EVP_MD_CTX_free);
    return key && context && EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, key.get()) == 1 &&
           EVP_DigestVerify(context.get(), bytesOf(signature), signature.size(), bytesOf(message), message.size()) == 1;
}

} // namespace assay::audit
