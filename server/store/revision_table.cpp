// SPDX-License-Identifier: Apache-2.0
#include "server/store/revision_table.h"

#include "server/store/row_list.h"

#include <limits>

namespace assay::store {

namespace {

#define ASSAY_REVISION_COLUMNS                                                                                         \
    "number, id, digest, file_count, size_bytes, created_at, promoted_at, withdrawn_at, publisher, note,"              \
    " withdrawn_reason, network, allowed_tools, lints, ignored, description, files, input_schema, output_schema,"      \
    " requires_execution"

RevisionRow readRow(const Statement& row, WithFiles files)
{
    RevisionRow out;
    out.number = static_cast<std::uint64_t>(row.integer(0));
    out.id = row.text(1);
    if (auto digest = Digest::fromBytes(row.blob(2)))
        out.digest = *digest;
    out.fileCount = static_cast<std::uint64_t>(row.integer(3));
    out.sizeBytes = static_cast<std::uint64_t>(row.integer(4));
    out.createdAt = row.timestamp(5);
    out.promotedAt = row.optionalTimestamp(6);
    out.withdrawnAt = row.optionalTimestamp(7);
    out.publisher = row.text(8);
    out.note = row.text(9);
    out.withdrawnReason = row.text(10);
    out.network = row.text(11);
    out.allowedTools = row.text(12);
    out.lints = row.text(13);
    out.ignored = row.text(14);
    out.description = row.text(15);
    if (files == WithFiles::Yes)
        out.files = row.text(16);
    out.inputSchema = row.text(17);
    out.outputSchema = row.text(18);
    out.requiresExecution = row.integer(19) != 0;
    return out;
}

Result<std::optional<RevisionRow>> readOne(Statement& query, WithFiles files)
{
    const auto found = query.step();
    if (!found)
        return std::unexpected(found.error());
    return *found ? std::optional(readRow(query, files)) : std::nullopt;
}

} // namespace

Result<void> RevisionTable::insert(std::string_view fingerprint, std::string_view skill, const RevisionRow& row)
{
    auto query =
        m_connection.prepare("INSERT INTO revisions(fingerprint, skill, " ASSAY_REVISION_COLUMNS ", capabilities)"
                             " VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    if (!query)
        return forward(query);
    if (!row.digest)
        return fail(ErrorCode::Internal, "a revision has no digest");
    query->bind(fingerprint).bind(skill).bind(static_cast<std::int64_t>(row.number)).bind(row.id);
    query->bindBlob(row.digest->bytes()).bind(static_cast<std::int64_t>(row.fileCount));
    query->bind(static_cast<std::int64_t>(row.sizeBytes)).bind(row.createdAt).bind(row.promotedAt);
    query->bind(row.withdrawnAt).bind(row.publisher).bind(row.note).bind(row.withdrawnReason).bind(row.network);
    query->bind(row.allowedTools).bind(row.lints).bind(row.ignored).bind(row.description).bind(row.files);
    query->bind(row.inputSchema).bind(row.outputSchema).bind(std::int64_t{row.requiresExecution});
    query->bind(row.capabilities);
    return query->run();
}

Result<std::optional<RevisionRow>> RevisionTable::find(std::string_view fingerprint, std::string_view skill,
                                                       std::string_view id, WithFiles files)
{
    // Both indexes hold this row; the skill makes sure that it is not another one's.
    auto query = m_connection.prepare("SELECT " ASSAY_REVISION_COLUMNS
                                      " FROM revisions WHERE fingerprint = ? AND id = ? AND skill = ?");
    if (!query)
        return forward(query);
    query->bind(fingerprint).bind(id).bind(skill);
    return readOne(*query, files);
}

Result<std::optional<RevisionRow>> RevisionTable::findNumber(std::string_view fingerprint, std::string_view skill,
                                                             std::uint64_t number, WithFiles files)
{
    auto query = m_connection.prepare("SELECT " ASSAY_REVISION_COLUMNS
                                      " FROM revisions WHERE fingerprint = ? AND skill = ? AND number = ?");
    if (!query)
        return forward(query);
    query->bind(fingerprint).bind(skill).bind(static_cast<std::int64_t>(number));
    return readOne(*query, files);
}

Result<std::vector<RevisionRow>> RevisionTable::list(std::string_view fingerprint, std::string_view skill,
                                                     std::uint64_t beforeNumber, std::uint32_t limit)
{
    auto query = m_connection.prepare("SELECT " ASSAY_REVISION_COLUMNS
                                      " FROM revisions WHERE fingerprint = ? AND skill = ? AND number < ?"
                                      " ORDER BY number DESC LIMIT ?");
    if (!query)
        return forward(query);
    constexpr std::int64_t kNewest = std::numeric_limits<std::int64_t>::max();
    query->bind(fingerprint).bind(skill);
    query->bind(beforeNumber == 0 ? kNewest : static_cast<std::int64_t>(beforeNumber)).bind(std::int64_t{limit});
    return readRows(*query, [](const Statement& row) { return readRow(row, WithFiles::No); });
}

Result<void> RevisionTable::markPromoted(std::string_view fingerprint, std::string_view skill, std::string_view id,
                                         Timestamp now)
{
    auto query = m_connection.prepare("UPDATE revisions SET promoted_at = coalesce(promoted_at, ?)"
                                      " WHERE fingerprint = ? AND id = ? AND skill = ?");
    if (!query)
        return forward(query);
    return query->bind(now).bind(fingerprint).bind(id).bind(skill).run();
}

Result<void> RevisionTable::markWithdrawn(std::string_view fingerprint, std::string_view skill, std::string_view id,
                                          Timestamp now, std::string_view reason)
{
    auto query = m_connection.prepare("UPDATE revisions SET withdrawn_at = ?, withdrawn_reason = ?"
                                      " WHERE fingerprint = ? AND id = ? AND skill = ?");
    if (!query)
        return forward(query);
    return query->bind(now).bind(reason).bind(fingerprint).bind(id).bind(skill).run();
}

Result<std::optional<std::string>> RevisionTable::capabilities(std::string_view fingerprint, std::string_view skill,
                                                               std::string_view id)
{
    auto query =
        m_connection.prepare("SELECT capabilities FROM revisions WHERE fingerprint = ? AND id = ? AND skill = ?");
    if (!query)
        return forward(query);
    query->bind(fingerprint).bind(id).bind(skill);
    const auto found = query->step();
    if (!found)
        return std::unexpected(found.error());
    return *found ? std::optional<std::string>(query->text(0)) : std::nullopt;
}

Result<void> RevisionTable::saveCapabilities(std::string_view fingerprint, std::string_view skill, std::string_view id,
                                             std::string_view capabilities)
{
    auto query = m_connection.prepare("UPDATE revisions SET capabilities = ?"
                                      " WHERE fingerprint = ? AND id = ? AND skill = ?");
    if (!query)
        return forward(query);
    return query->bind(capabilities).bind(fingerprint).bind(id).bind(skill).run();
}

} // namespace assay::store
