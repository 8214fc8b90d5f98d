// SPDX-License-Identifier: Apache-2.0
#include "server/store/artifact_table.h"

#include "server/store/row_list.h"

namespace assay::store {

namespace {

ArtifactRow readRow(const Statement& row)
{
    ArtifactRow out;
    out.id = row.text(0);
    out.run = row.text(1);
    out.path = row.text(2);
    // A digest of another length matches no stored bytes, so the artifact reads as damaged.
    out.sha256 = Digest::fromBytes(row.blob(3)).value_or(Digest());
    out.sizeBytes = static_cast<std::uint64_t>(row.integer(4));
    out.mediaType = row.text(5);
    out.createdAt = row.timestamp(6);
    return out;
}

} // namespace

Result<void> ArtifactTable::insert(std::string_view fingerprint, const ArtifactRow& row)
{
    auto query = m_connection.prepare("INSERT INTO artifacts(fingerprint, id, run, path, sha256, size_bytes,"
                                      " media_type, created_at) VALUES(?, ?, ?, ?, ?, ?, ?, ?)");
    if (!query)
        return forward(query);
    query->bind(fingerprint).bind(row.id).bind(row.run).bind(row.path).bindBlob(row.sha256.bytes());
    query->bind(static_cast<std::int64_t>(row.sizeBytes)).bind(row.mediaType).bind(row.createdAt);
    return query->run();
}

Result<std::optional<ArtifactRow>> ArtifactTable::find(std::string_view fingerprint, std::string_view id)
{
    auto query = m_connection.prepare("SELECT id, run, path, sha256, size_bytes, media_type, created_at FROM artifacts"
                                      " WHERE fingerprint = ? AND id = ?");
    if (!query)
        return forward(query);
    const auto found = query->bind(fingerprint).bind(id).step();
    if (!found)
        return std::unexpected(found.error());
    return *found ? std::optional(readRow(*query)) : std::nullopt;
}

Result<std::vector<ArtifactRow>> ArtifactTable::list(std::string_view fingerprint, std::string_view run,
                                                     std::string_view afterPath, std::uint32_t limit)
{
    auto query = m_connection.prepare("SELECT id, run, path, sha256, size_bytes, media_type, created_at FROM artifacts"
                                      " WHERE fingerprint = ? AND run = ? AND path > ? ORDER BY path LIMIT ?");
    if (!query)
        return forward(query);
    query->bind(fingerprint).bind(run).bind(afterPath).bind(std::int64_t{limit});
    return readRows(*query, readRow);
}

} // namespace assay::store
