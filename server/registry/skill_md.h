// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/registry/problem_list.h"

#include <expected>
#include <string_view>

namespace assay::registry {

inline constexpr std::string_view kSkillMd = "SKILL.md";

/// The two parts of a SKILL.md. Offsets are bytes from the file's start, a byte order mark included.
struct SkillMdParts
{
    std::string_view frontmatter; ///< between the two lines of dashes, without them
    std::size_t frontmatterOffset = 0;
    std::string_view body;
    std::size_t bodyOffset = 0;
};

/// Splits a SKILL.md that is UTF-8: the first line is `---` (blanks may follow; a byte order mark may stand before
/// it), a later line `---` closes. `missing_frontmatter` or `invalid_frontmatter` otherwise. Linear.
std::expected<SkillMdParts, Problem> splitSkillMd(std::string_view text);

inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

} // namespace assay::registry
