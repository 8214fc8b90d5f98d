// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/clock.h"
#include "server/core/error.h"

#include <optional>
#include <string>

namespace assay::registry {

/// The ETag (unquoted) of a row: its version, which grows over deletions too, and the time of its last change, which
/// tells two histories apart after a restored backup.
std::string rowTag(std::uint64_t version, Timestamp updatedAt);

/// Judges a caller's `If-Match` (unquoted; "*" for any) against what exists; `present` is empty when nothing does.
/// `PreconditionFailed` with what to do.
Result<void> checkIfMatch(const std::optional<std::string>& ifMatch, const std::optional<std::string>& present);

} // namespace assay::registry
