// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/error.h"

#include <string>
#include <string_view>

namespace assay {

/// RFC 4648, section 4, with padding.
std::string toBase64(std::string_view bytes);

/// Strict: the alphabet, full padding, zero trailing bits, nothing else. `InvalidArgument` otherwise.
Result<std::string> fromBase64(std::string_view text);

/// RFC 4648, section 5 (URL-safe), without padding on writing; reading accepts it with or without.
std::string toBase64Url(std::string_view bytes);
Result<std::string> fromBase64Url(std::string_view text);

} // namespace assay
