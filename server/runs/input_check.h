// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/contract/skill.h"
#include "server/core/error.h"

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::runs {

/// The file of a skill that holds the JSON Schema of a script's input: `schemas/<file name>.input.json`, else
/// `schemas/<file name without its extension>.input.json`. Null when the skill has none.
const contract::RevisionFile* inputSchemaFor(const std::vector<contract::RevisionFile>& files, std::string_view script);

/// Validates `instance` (JSON text) against `schema`: `InvalidArgument` with one problem for each finding (20 at most),
/// its pointer below `pointer`. Thread-safe.
using InputCheck =
    std::function<Result<void>(std::string_view schema, std::string_view instance, std::string_view pointer)>;

/// The real check, by the program `assay-schema-check`. It is a process of its own because schemas come from
/// publishers: a pattern that backtracks for years or a reference to itself ends that process (2 s of processor time,
/// 512 MiB), not the server. Schemas over 256 KiB are refused. `Unavailable` when the program is missing.
InputCheck makeInputCheck(const std::filesystem::path& program);

/// `assay-schema-check` beside the running program.
std::filesystem::path defaultSchemaChecker();

} // namespace assay::runs
