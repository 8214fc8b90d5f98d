// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/registry/package.h"
#include "server/registry/problem_list.h"
#include "server/registry/skill_md.h"

namespace assay::registry {

/// Findings about one file that may be published but will not work everywhere. Linear in its size.
void lintFile(const PackageFile& file, ProblemList& lints);

/// Findings about SKILL.md below its frontmatter. `skillMd` is UTF-8.
void lintBody(std::string_view skillMd, const SkillMdParts& parts, ProblemList& lints);

/// Findings about the package as a whole.
void lintTotals(std::size_t files, std::uint64_t bytes, ProblemList& lints);

} // namespace assay::registry
