// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/error.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace assay {

/// UTF-8 as RFC 3629 has it: no overlong form, no surrogate, nothing above U+10FFFF.
bool isUtf8(std::string_view bytes);

/// The byte offset of the first sequence that is not UTF-8; empty when there is none.
std::optional<std::size_t> firstInvalidUtf8(std::string_view bytes);

/// Takes one code point off the front of valid UTF-8; U+FFFD and one byte for an invalid sequence.
char32_t takeCodePoint(std::string_view& text);

void appendUtf8(std::string& out, char32_t codePoint);

/// Unicode normalization forms C and KC (UAX #15) of valid UTF-8.
std::string toNfc(std::string_view text);
std::string toNfkc(std::string_view text);

/// NFC, then full case folding (Unicode CaseFolding, C + F), then NFC: two paths that a case-insensitive or normalizing
/// file system would take for one have the same key.
std::string caseFoldKey(std::string_view text);

/// Simple lower case of each code point.
std::string toLower(std::string_view text);

/// Letters or digits of any script (general categories L* and N*).
bool isAlphanumeric(char32_t codePoint);

/// The size in bytes of the first extended grapheme cluster (UAX #29) of valid, not empty UTF-8: a character as a
/// reader sees it, with its combining marks and all that is joined to it.
std::size_t firstGraphemeSize(std::string_view text);

/// Counts code points of valid UTF-8.
std::size_t countCodePoints(std::string_view text);

} // namespace assay
