// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace assay::store {

/// The database in a server's data directory (docs/settings.md, "The data directory").
inline std::filesystem::path databaseFile(const std::filesystem::path& dataDirectory)
{
    return dataDirectory / "assay.db";
}

} // namespace assay::store
