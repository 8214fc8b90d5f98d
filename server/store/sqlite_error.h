// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/error.h"

struct sqlite3;

namespace assay::store {

/// The error of a failed SQLite call with result `status` on `database` (may be null): `Unavailable` for a full disk,
/// a lock or exhausted memory, else `Internal`. SQLite's text goes to the detail; it never holds bound values.
std::unexpected<Error> failSqlite(sqlite3* database, int status, std::string_view what);

} // namespace assay::store
