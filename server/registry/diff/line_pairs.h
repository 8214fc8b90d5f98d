// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/registry/diff/line_tokens.h"

#include <cstddef>
#include <span>
#include <utility>

namespace assay::registry::diff {

/// How much two lines have in common, in percent of the longer one's bytes that are not blanks; 0 for two blank lines.
/// Order does not count. Linear in the tokens but for sorting.
unsigned likeness(std::span<const Token> one, std::span<const Token> other);

/// Which removed line became which added one, as indexes, in order. As many on both sides: each with its counterpart.
/// Otherwise the alignment with the greatest likeness; for more than `kMaxAligned` pairs the first lines with each
/// other. Takes what it costs, in tokens compared, off `budget`.
std::vector<std::pair<std::size_t, std::size_t>> pairLines(std::span<const std::vector<Token>> removed,
                                                           std::span<const std::vector<Token>> added,
                                                           std::uint64_t& budget);

inline constexpr std::size_t kMaxAligned = 1024;

} // namespace assay::registry::diff
