// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/store/connection.h"

#include <filesystem>

namespace assay::store {

/// `Write` makes the file when it is missing (mode 0600) and sets what the writer needs; `Read` opens an existing one
/// and refuses every change.
enum class ConnectionUse : std::uint8_t { Write, Read };

/// Opens the database file with our settings: WAL, synchronous=FULL, foreign keys, a bounded page cache, and no
/// trust in the file's schema.
Result<std::unique_ptr<Connection>> openConnection(const std::filesystem::path& file, ConnectionUse use);

} // namespace assay::store
