// SPDX-License-Identifier: Apache-2.0
#include "server/auth/sealed_text.h"

#include "server/core/base64.h"
#include "server/core/random.h"

#include <limits>
#include <memory>
#include <openssl/evp.h>

namespace assay::auth {

namespace {

constexpr std::size_t kNonceBytes = 12;
constexpr std::size_t kTagBytes = 16;

using Context = std::unique_ptr<EVP_CIPHER_CTX, decltype(&EVP_CIPHER_CTX_free)>;

Context newContext() { return {EVP_CIPHER_CTX_new(), &EVP_CIPHER_CTX_free}; }

const unsigned char* bytesOf(std::string_view text) { return reinterpret_cast<const unsigned char*>(text.data()); }
unsigned char* bytesOf(std::string& text) { return reinterpret_cast<unsigned char*>(text.data()); }

std::unexpected<Error> cannotOpen() { return fail(ErrorCode::InvalidArgument, "the sealed text cannot be opened"); }
std::unexpected<Error> cannotSeal() { return fail(ErrorCode::Internal, "the server could not encrypt", "AES-GCM"); }

} // namespace

Result<std::string> sealText(const Digest& key, std::string_view text)
{
    if (text.size() > std::numeric_limits<int>::max() / 2)
        return cannotSeal();
    const std::string nonce = randomBytes(kNonceBytes);
    std::string cipher(text.size(), '\0');
    std::string tag(kTagBytes, '\0');
    const Context context = newContext();
    int written = 0;
    const bool done =
        context &&
        EVP_EncryptInit_ex2(context.get(), EVP_aes_256_gcm(), bytesOf(key.bytes()), bytesOf(nonce), nullptr) == 1 &&
        EVP_EncryptUpdate(context.get(), bytesOf(cipher), &written, bytesOf(text), static_cast<int>(text.size())) ==
            1 &&
        EVP_EncryptFinal_ex(context.get(), bytesOf(tag), &written) == 1 &&
        EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_GCM_GET_TAG, kTagBytes, tag.data()) == 1;
    return done ? Result<std::string>(toBase64(nonce + cipher + tag)) : cannotSeal();
}

Result<std::string> openSealedText(const Digest& key, std::string_view sealed)
{
    const auto bytes = fromBase64(sealed);
    if (!bytes || bytes->size() < kNonceBytes + kTagBytes || bytes->size() > std::numeric_limits<int>::max() / 2)
        return cannotOpen();
    const std::string_view all(*bytes);
    const std::string_view cipher = all.substr(kNonceBytes, all.size() - kNonceBytes - kTagBytes);
    std::string tag(all.substr(all.size() - kTagBytes));
    std::string text(cipher.size(), '\0');
    const Context context = newContext();
    int written = 0;
    const bool done =
        context &&
        EVP_DecryptInit_ex2(context.get(), EVP_aes_256_gcm(), bytesOf(key.bytes()), bytesOf(all), nullptr) == 1 &&
        EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_GCM_SET_TAG, kTagBytes, tag.data()) == 1 &&
        EVP_DecryptUpdate(context.get(), bytesOf(text), &written, bytesOf(cipher), static_cast<int>(cipher.size())) ==
            1 &&
        EVP_DecryptFinal_ex(context.get(), bytesOf(tag), &written) == 1;
    return done ? Result<std::string>(std::move(text)) : cannotOpen();
}

} // namespace assay::auth
