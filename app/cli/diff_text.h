// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/json.h"

#include <string>

namespace assay::cli {

enum class Colour : std::uint8_t { Off, On };

/// The answer of `GET /v1/skills/{name}/diff` for people: like a unified diff, file by file, with what the server left
/// out in words. Control, bidi and zero-width characters of the files are written as escapes, tabs stay. With colours,
/// what changed within a line is marked. Pure.
std::string diffText(const json::value& diff, Colour colour);

} // namespace assay::cli
