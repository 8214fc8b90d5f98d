// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/error.h"

#include <boost/json.hpp>
#include <string>
#include <string_view>

namespace assay {

namespace json = boost::json;

/// Nesting deeper than this is refused: every walk over a parsed value may recurse.
inline constexpr std::size_t kMaxJsonDepth = 64;

/// Parses one JSON text (RFC 8259) in UTF-8. Refused with `InvalidArgument`, a JSON pointer and the byte offset:
/// anything that is not JSON, invalid UTF-8, duplicate members, nesting over `kMaxJsonDepth`, numbers that overflow a
/// double. Lone surrogates in escapes are refused too: they have no UTF-8 form.
Result<json::value> parseJson(std::string_view text);
/// Likewise; `faultOffset` becomes the byte at which a refused text stopped being JSON.
Result<json::value> parseJson(std::string_view text, std::size_t& faultOffset);

/// The JSON Canonicalization Scheme (RFC 8785): members sorted by UTF-16 code units, shortest numbers, no blanks.
/// `value` comes from `parseJson` or is built by us, so it holds no NaN and no infinity.
std::string canonicalJson(const json::value& value);

/// Escapes one reference token of a JSON pointer (RFC 6901).
std::string pointerToken(std::string_view member);

} // namespace assay
