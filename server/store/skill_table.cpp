// SPDX-License-Identifier: Apache-2.0
#include "server/store/skill_table.h"

namespace assay::store {

namespace {

#define ASSAY_SKILL_COLUMNS                                                                                            \
    "name, version, enabled, state, current_revision, shown_number, last_number, created_at, updated_at, deleted_at,"  \
    " visibility, labels, description"

SkillRow readRow(const Statement& row)
{
    SkillRow out;
    out.name = row.text(0);
    out.version = static_cast<std::uint64_t>(row.integer(1));
    out.enabled = row.integer(2) != 0;
    out.state = row.text(3);
    out.currentRevision = row.text(4);
    out.shownNumber = static_cast<std::uint64_t>(row.integer(5));
    out.lastNumber = static_cast<std::uint64_t>(row.integer(6));
    out.createdAt = row.timestamp(7);
    out.updatedAt = row.timestamp(8);
    out.deletedAt = row.optionalTimestamp(9);
    out.visibility = row.text(10);
    out.labels = row.text(11);
    out.description = row.text(12);
    return out;
}

bool isWanted(const Statement& row, const SkillQuery& query)
{
    constexpr int kSearchText = 13;
    if (!row.isNull(9))
        return false;
    if (query.enabled && *query.enabled != (row.integer(2) != 0))
        return false;
    if (!query.state.empty() && row.text(3) != query.state)
        return false;
    return query.text.empty() || row.text(kSearchText).find(query.text) != std::string_view::npos;
}

void bindCurrent(Statement& query, const SkillRow& row)
{
    if (row.currentRevision.empty())
        query.bindNull();
    else
        query.bind(row.currentRevision);
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
    auto query = m_connection.prepare("INSERT INTO skills(fingerprint, " ASSAY_SKILL_COLUMNS ", search_text)"
                                      " VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    if (!query)
        return forward(query);
    query->bind(fingerprint).bind(row.name).bind(static_cast<std::int64_t>(row.version));
    query->bind(std::int64_t{row.enabled}).bind(row.state);
    bindCurrent(*query, row);
    query->bind(static_cast<std::int64_t>(row.shownNumber)).bind(static_cast<std::int64_t>(row.lastNumber));
    query->bind(row.createdAt).bind(row.updatedAt).bind(row.deletedAt).bind(row.visibility).bind(row.labels);
    return query->bind(row.description).bind(row.searchText).run();
}

Result<void> SkillTable::update(std::string_view fingerprint, const SkillRow& row)
{
    auto query = m_connection.prepare(
        "UPDATE skills SET version = ?, enabled = ?, state = ?, current_revision = ?, shown_number = ?,"
        " last_number = ?, updated_at = ?, deleted_at = ?, visibility = ?, labels = ?, description = ?,"
        " search_text = coalesce(nullif(?, ''), search_text) WHERE fingerprint = ? AND name = ?");
    if (!query)
        return forward(query);
    query->bind(static_cast<std::int64_t>(row.version)).bind(std::int64_t{row.enabled}).bind(row.state);
    bindCurrent(*query, row);
    query->bind(static_cast<std::int64_t>(row.shownNumber)).bind(static_cast<std::int64_t>(row.lastNumber));
    query->bind(row.updatedAt).bind(row.deletedAt).bind(row.visibility).bind(row.labels).bind(row.description);
    query->bind(row.searchText).bind(fingerprint).bind(row.name);
    if (auto done = query->run(); !done)
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
    Listed out;
    std::string last;
    for (std::uint32_t scanned = 0;; ++scanned) {
        const auto row = query->step();
        if (!row)
            return std::unexpected(row.error());
        if (!*row)
            return out;
        if (out.rows.size() == wanted.limit || scanned == kMaxScanned) {
            out.more = std::move(last);
            return out;
        }
        last = query->text(0);
        if (isWanted(*query, wanted))
            out.rows.push_back(readRow(*query));
    }
}

} // namespace assay::store
