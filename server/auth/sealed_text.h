// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/digest.h"

#include <string>
#include <string_view>

namespace assay::auth {

/// Encrypts `text` so that only a holder of `key` can read it again, and notices any change (AES-256-GCM, NIST SP
/// 800-38D): base64 of a random 12-byte nonce, the ciphertext and the 16-byte tag. One key seals few texts, far from
/// the bound of random nonces. Pure but for randomness; thread-safe.
Result<std::string> sealText(const Digest& key, std::string_view text);

/// `InvalidArgument` for another key or changed bytes.
Result<std::string> openSealedText(const Digest& key, std::string_view sealed);

} // namespace assay::auth
