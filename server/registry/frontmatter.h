// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/registry/problem_list.h"
#include "server/registry/skill_md.h"

#include <optional>
#include <string>

namespace assay::registry {

/// What a SKILL.md's frontmatter says, as far as the registry uses it.
struct Frontmatter
{
    std::string name; ///< as written
    std::string slug; ///< a usable registry name
    std::size_t nameOffset = 0;
    std::string description;
    std::string network;      ///< `metadata` -> `assay.network`, as written
    std::string allowedTools; ///< in canonical form
    /// `metadata` -> `assay.input-schema`, `assay.output-schema`: paths in the package, in NFC.
    std::string inputSchema;
    std::string outputSchema;
    std::size_t inputSchemaOffset = 0; ///< in SKILL.md, like `nameOffset`
    std::size_t outputSchemaOffset = 0;
    bool requiresExecution = false; ///< `metadata` -> `assay.requires-execution: "true"`
};

/// Reads the frontmatter of `skillMd`, which is UTF-8 and was split into `parts`. Every broken rule is added to
/// `errors` with its line and column, every finding about portability to `lints`; empty when a rule was broken.
std::optional<Frontmatter> readFrontmatter(std::string_view skillMd, const SkillMdParts& parts, ProblemList& errors,
                                           ProblemList& lints);

} // namespace assay::registry
