// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace assay::registry::diff {

/// A piece of a line that a mark never splits: a word, a run of blanks, or one character as a reader sees it (with its
/// combining marks; an emoji with all that is joined to it). In scripts written without spaces each character is one.
struct Token
{
    std::uint32_t start = 0; ///< bytes
    std::uint32_t size = 0;
    std::uint64_t hash = 0;
    bool isBlank = false;
};

/// Of valid UTF-8 below 4 GiB, in order, without a gap. Linear. Pure.
std::vector<Token> tokensOf(std::string_view line);

} // namespace assay::registry::diff
