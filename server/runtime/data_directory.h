// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/error.h"
#include "server/store/database_file.h"

#include <filesystem>

namespace assay::runtime {

/// The one folder that holds a server's state (docs/settings.md, "The data directory"), made with mode 0700 and private
/// to its owner. The database's lock file keeps a second server out.
class DataDirectory
{
public:
    /// Makes what is missing. `Unavailable` names the path and the remedy: not a folder, owned by somebody else, open
    /// to others, read-only.
    static Result<DataDirectory> open(const std::filesystem::path& path);

    std::filesystem::path database() const { return store::databaseFile(m_path); }
    std::filesystem::path scratch() const { return m_path / "tmp"; }       ///< unlinked files and unpacking
    std::filesystem::path packages() const { return m_path / "packages"; } ///< verified trees for boxes
    std::filesystem::path keys() const { return m_path / "keys"; }         ///< what seals sessions and signs anchors
    const std::filesystem::path& path() const { return m_path; }

private:
    explicit DataDirectory(std::filesystem::path path) : m_path(std::move(path)) {}
    std::filesystem::path m_path;
};

} // namespace assay::runtime
