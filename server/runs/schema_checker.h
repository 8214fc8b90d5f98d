// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/error.h"

#include <filesystem>
#include <functional>
#include <string_view>

namespace assay::runs {

/// Validates `instance` (JSON text) against `schema`: `InvalidArgument` with one problem for each finding (20 at most),
/// its pointer below `pointer`. `Refused` with `schema_unusable` when the schema cannot be used: it is none, over 256
/// KiB, refers to another document, or costs more than the check may. Thread-safe.
using SchemaCheck =
    std::function<Result<void>(std::string_view schema, std::string_view instance, std::string_view pointer)>;

/// The real check, by the program `assay-schema-check`. It is a process of its own because schemas come from
/// publishers: a pattern that backtracks for years or a reference to itself ends that process (2 s of processor time,
/// 512 MiB), not the server. `Unavailable` when the program is missing.
SchemaCheck makeSchemaCheck(const std::filesystem::path& program);

/// `assay-schema-check` beside the running program.
std::filesystem::path defaultSchemaChecker();

} // namespace assay::runs
