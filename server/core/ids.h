// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/clock.h"

#include <string>
#include <string_view>

namespace assay {

/// Makes an id: `prefix` (for example "run_") and a ULID: 26 characters of Crockford base 32, 48 bits of milliseconds
/// and 80 random bits (github.com/ulid/spec). Ids of one process made in one millisecond still sort by age.
/// Thread-safe.
std::string newId(std::string_view prefix, Timestamp now);

/// True for `prefix` and 26 characters of the alphabet. A malformed id never reaches a query.
bool isId(std::string_view text, std::string_view prefix);

} // namespace assay
