// SPDX-License-Identifier: Apache-2.0
#include "server/store/skill_table.h"

#include "server/store/row_list.h"

namespace assay::store {

namespace {

#define ASSAY_SKILL_COLUMNS                                                                                            \
    "name, version, enabled, state, current_revision, shown_revision, shown_number, shown_digest, shown_file_count,"   \
    " shown_size_bytes, last_number, created_at, updated_at, deleted_at, visibility, labels, shown_lints,"             \
    " shown_ignored, description, shown_requires_execution"

constexpr int kEnabled = 2;
constexpr int kState = 3;
constexpr int kDeletedAt = 13;
constexpr int kSearchText = 20;

ShownRevision readShown(const Statement& row)
{
    ShownRevision out;
    out.id = row.text(5);
    out.number = static_cast<std::uint64_t>(row.integer(6));
    if (auto digest = Digest::fromBytes(row.blob(7)))
        out.digest = *digest;
    out.fileCount = static_cast<std::uint64_t>(row.integer(8));
    out.sizeBytes = static_cast<std::uint64_t>(row.integer(9));
    out.lints = row.text(16);
    out.ignored = row.text(17);
    out.requiresExecution = row.integer(19) != 0;
    return out;
}

SkillRow readRow(const Statement& row)
{
    SkillRow out;
    out.name = row.text(0);
    out.version = static_cast<std::uint64_t>(row.integer(1));
    out.enabled = row.integer(kEnabled) != 0;
    out.state = row.text(kState);
    out.currentRevision = row.text(4);
    out.shown = readShown(row);
    out.lastNumber = static_cast<std::uint64_t>(row.integer(10));
    out.createdAt = row.timestamp(11);
    out.updatedAt = row.timestamp(12);
    out.deletedAt = row.optionalTimestamp(kDeletedAt);
    out.visibility = row.text(14);
    out.labels = row.text(15);
    out.description = row.text(18);
    return out;
}

bool isWanted(const Statement& row, const SkillQuery& query)
{
    if (!row.isNull(kDeletedAt))
        return false;
    if (query.enabled && *query.enabled != (row.integer(kEnabled) != 0))
        return false;
    if (!query.state.empty() && row.text(kState) != query.state)
        return false;
    return query.text.empty() || row.text(kSearchText).find(query.text) != std::string_view::npos;
}

void bindState(Statement& query, const SkillRow& row)
{
    query.bind(static_cast<std::int64_t>(row.version)).bind(std::int64_t{row.enabled}).bind(row.state);
    if (row.currentRevision.empty())
        query.bindNull();
    else
        query.bind(row.currentRevision);
    query.bind(row.shown.id).bind(static_cast<std::int64_t>(row.shown.number));
    query.bindBlob(row.shown.digest ? row.shown.digest->bytes() : std::string_view());
    query.bind(static_cast<std::int64_t>(row.shown.fileCount)).bind(static_cast<std::int64_t>(row.shown.sizeBytes));
    query.bind(static_cast<std::int64_t>(row.lastNumber));
}

void bindTexts(Statement& query, const SkillRow& row)
{
    query.bind(row.updatedAt).bind(row.deletedAt).bind(row.visibility).bind(row.labels).bind(row.shown.lints);
    query.bind(row.shown.ignored).bind(std::int64_t{row.shown.requiresExecution}).bind(row.description);
    query.bind(row.searchText);
}

} // namespace

Result<std::optional<SkillRow>> SkillTable::find(std::string_view fingerprint, std::string_view name)
{
    auto query = m_connection.prepare("SELECT " ASSAY_SKILL_COLUMNS " FROM skills WHERE fingerprint = ? AND name = ?");
    if (!query)
        return forward(query);
    const auto found = query->bind(fingerprint).bind(name).step();
    if (!found)
        return std::unexpected(found.error());
    return *found ? std::optional(readRow(*query)) : std::nullopt;
}

Result<void> SkillTable::insert(std::string_view fingerprint, const SkillRow& row)
{
    auto query = m_connection.prepare(
        "INSERT INTO skills(fingerprint, name, created_at, version, enabled, state, current_revision, shown_revision,"
        " shown_number, shown_digest, shown_file_count, shown_size_bytes, last_number, updated_at, deleted_at,"
        " visibility, labels, shown_lints, shown_ignored, shown_requires_execution, description,"
        " search_text) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    if (!query)
        return forward(query);
    query->bind(fingerprint).bind(row.name).bind(row.createdAt);
    bindState(*query, row);
    bindTexts(*query, row);
    return query->run();
}

Result<void> SkillTable::update(std::string_view fingerprint, const SkillRow& row)
{
    auto query = m_connection.prepare(
        "UPDATE skills SET version = ?, enabled = ?, state = ?, current_revision = ?, shown_revision = ?,"
        " shown_number = ?, shown_digest = ?, shown_file_count = ?, shown_size_bytes = ?, last_number = ?,"
        " updated_at = ?, deleted_at = ?, visibility = ?, labels = ?, shown_lints = ?, shown_ignored = ?,"
        " shown_requires_execution = ?, description = ?, search_text = coalesce(nullif(?, ''), search_text) WHERE "
        "fingerprint = ? AND name = ?");
    if (!query)
        return forward(query);
    bindState(*query, row);
    bindTexts(*query, row);
    if (auto done = query->bind(fingerprint).bind(row.name).run(); !done)
        return done;
    if (m_connection.changes() == 0)
        return fail(ErrorCode::NotFound, "there is no such skill");
    return {};
}

Result<SkillTable::Listed> SkillTable::list(std::string_view fingerprint, const SkillQuery& wanted)
{
    auto query = m_connection.prepare("SELECT " ASSAY_SKILL_COLUMNS
                                      ", search_text FROM skills WHERE fingerprint = ? AND name > ? ORDER BY name");
    if (!query)
        return forward(query);
    query->bind(fingerprint).bind(wanted.afterName);
    return readPage<Listed>(
        *query, wanted.limit, kMaxScanned, [&](const Statement& row) { return isWanted(row, wanted); }, readRow);
}

} // namespace assay::store
