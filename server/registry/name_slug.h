// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace assay::registry {

inline constexpr std::size_t kMaxNameBytes = 64;

/// True for 1..64 of `a-z 0-9 -` without a hyphen at an edge or two in a row.
bool isRegistryName(std::string_view name);

/// The registry name that a frontmatter `name` stands for: NFKC, lower case, every run of other characters one hyphen,
/// edges trimmed. May be empty or too long: check with `isRegistryName`. `name` is UTF-8.
std::string slugOf(std::string_view name);

} // namespace assay::registry
