// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/registry/frontmatter.h"
#include "server/registry/package.h"

#include <functional>
#include <span>

namespace assay::registry {

/// Which side of a script a JSON Schema describes.
enum class SchemaOf : std::uint8_t { Input, Output };

/// Larger schemas are not used.
inline constexpr std::size_t kMaxSchemaBytes = 256U << 10;

/// The file that holds the schema of a script (docs/runs.md, "Schemas"), by what the package has: the script's own
/// `schemas/<file name>.input.json`, else `schemas/<file name without its extension>.input.json`; else the one that
/// the frontmatter names (`declared`), else `assets/input-schema.json`; likewise for the output. Empty when there is
/// none. A declared file that is missing is given too: a skill that wants a check must not run without.
std::string schemaPath(std::string_view script, SchemaOf side, std::string_view declared,
                       const std::function<bool(std::string_view path)>& isThere);

/// Lints, with their lines: a schema that the frontmatter names and the package has not (`schema_missing`), one that is
/// too large (`schema_too_large`), no JSON Schema (`invalid_schema`), or refers to another document
/// (`schema_remote_reference`). Whether it is one in every detail is found when it is used.
void lintSchemas(std::span<const PackageFile> files, const Frontmatter& frontmatter, ProblemList& lints);

} // namespace assay::registry
