// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/error.h"

#include <filesystem>

namespace assay::store {

/// Copies a consistent state of the database file `source` into the new file `target` (SQLite's online backup), also
/// while a server serves from it: takes no lock that a writer waits for. The copy is complete and synced when `target`
/// appears. `Conflict` when it exists, `NotFound` without a source.
Result<void> backupDatabase(const std::filesystem::path& source, const std::filesystem::path& target);

} // namespace assay::store
