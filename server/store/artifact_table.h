// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/clock.h"
#include "server/core/digest.h"
#include "server/store/connection.h"

#include <vector>

namespace assay::store {

/// A collected output. Its bytes are in the artifact store (package_store_factory.h) under `sha256`.
struct ArtifactRow
{
    std::string id; ///< "art_..."
    std::string run;
    std::string path; ///< relative to /workspace/out
    Digest sha256;
    std::uint64_t sizeBytes = 0;
    std::string mediaType;
    Timestamp createdAt;
};

/// The SQL of the table `artifacts`, one exact scope at a time. Confined to its connection.
class ArtifactTable
{
public:
    explicit ArtifactTable(Connection& connection) : m_connection(connection) {}

    Result<void> insert(std::string_view fingerprint, const ArtifactRow& row);
    Result<std::optional<ArtifactRow>> find(std::string_view fingerprint, std::string_view id);
    /// In the byte order of paths, those after `afterPath` (empty: from the first), at most `limit`.
    Result<std::vector<ArtifactRow>> list(std::string_view fingerprint, std::string_view run,
                                          std::string_view afterPath, std::uint32_t limit);

private:
    Connection& m_connection;
};

} // namespace assay::store
