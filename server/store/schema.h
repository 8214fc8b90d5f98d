// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/store/connection.h"

namespace assay::store {

/// "ASAY" in the file's header (sqlite.org/fileformat2.html, offset 68): another program's database is not taken for
/// ours.
inline constexpr std::int64_t kApplicationId = 0x41534159;

/// The newest schema this program knows; `PRAGMA user_version` of a database says which one it has.
std::int64_t newestSchema();

/// Brings the database to the newest schema, one transaction a step. `Unavailable` for a newer schema or a file of
/// another program, with what to do.
Result<void> migrate(Connection& connection);

/// Succeeds when the database has exactly the schema of this program; `Unavailable` otherwise. Changes nothing.
Result<void> requireNewestSchema(Connection& connection);

} // namespace assay::store
