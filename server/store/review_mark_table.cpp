// SPDX-License-Identifier: Apache-2.0
#include "server/store/review_mark_table.h"

namespace assay::store {

namespace {

// "Nothing" has no digest; all zeros are nobody's.
Digest keyOf(const std::optional<Digest>& base) { return base.value_or(Digest()); }

} // namespace

Result<void> ReviewMarkTable::putViewed(std::string_view fingerprint, std::string_view skill,
                                        std::string_view principal, const ViewedRow& row)
{
    {
        auto query = m_connection.prepare(
            "INSERT INTO viewed_files(fingerprint, skill, principal, path, content, viewed_at) VALUES(?, ?, ?, ?, ?, ?)"
            " ON CONFLICT DO UPDATE SET content = excluded.content, viewed_at = excluded.viewed_at");
        if (!query)
            return forward(query);
        query->bind(fingerprint).bind(skill).bind(principal).bind(row.path).bind(row.content).bind(row.viewedAt);
        if (auto done = query->run(); !done)
            return done;
    }
    auto old = m_connection.prepare(
        "DELETE FROM viewed_files WHERE fingerprint = ?1 AND skill = ?2 AND principal = ?3 AND path IN (SELECT path"
        " FROM viewed_files WHERE fingerprint = ?1 AND skill = ?2 AND principal = ?3 ORDER BY viewed_at DESC, path"
        " LIMIT -1 OFFSET ?4)");
    if (!old)
        return forward(old);
    return old->bind(fingerprint).bind(skill).bind(principal).bind(kMaxViewed).run();
}

Result<void> ReviewMarkTable::removeViewed(std::string_view fingerprint, std::string_view skill,
                                           std::string_view principal, std::string_view path)
{
    auto query = m_connection.prepare(
        "DELETE FROM viewed_files WHERE fingerprint = ? AND skill = ? AND principal = ? AND path = ?");
    if (!query)
        return forward(query);
    return query->bind(fingerprint).bind(skill).bind(principal).bind(path).run();
}

Result<std::vector<ViewedRow>> ReviewMarkTable::viewed(std::string_view fingerprint, std::string_view skill,
                                                       std::string_view principal)
{
    auto query = m_connection.prepare("SELECT path, content, viewed_at FROM viewed_files"
                                      " WHERE fingerprint = ? AND skill = ? AND principal = ? ORDER BY path");
    if (!query)
        return forward(query);
    query->bind(fingerprint).bind(skill).bind(principal);
    std::vector<ViewedRow> out;
    for (;;) {
        const auto found = query->step();
        if (!found)
            return std::unexpected(found.error());
        if (!*found)
            return out;
        out.push_back({std::string(query->text(0)), std::string(query->text(1)), query->timestamp(2)});
    }
}

Result<void> ReviewMarkTable::acknowledge(std::string_view fingerprint, std::string_view skill, const Digest& digest,
                                          const std::optional<Digest>& base, std::string_view principal, Timestamp now)
{
    auto query = m_connection.prepare("INSERT INTO capability_acknowledgements(fingerprint, skill, digest, base_digest,"
                                      " principal, acknowledged_at) VALUES(?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING");
    if (!query)
        return forward(query);
    const Digest key = keyOf(base);
    query->bind(fingerprint).bind(skill).bindBlob(digest.bytes()).bindBlob(key.bytes()).bind(principal).bind(now);
    return query->run();
}

Result<std::vector<std::string>> ReviewMarkTable::acknowledgedBy(std::string_view fingerprint, std::string_view skill,
                                                                 const Digest& digest,
                                                                 const std::optional<Digest>& base)
{
    auto query = m_connection.prepare("SELECT principal FROM capability_acknowledgements WHERE fingerprint = ? AND"
                                      " skill = ? AND digest = ? AND base_digest = ? ORDER BY acknowledged_at,"
                                      " principal LIMIT 100");
    if (!query)
        return forward(query);
    const Digest key = keyOf(base);
    query->bind(fingerprint).bind(skill).bindBlob(digest.bytes()).bindBlob(key.bytes());
    std::vector<std::string> out;
    for (;;) {
        const auto found = query->step();
        if (!found)
            return std::unexpected(found.error());
        if (!*found)
            return out;
        out.emplace_back(query->text(0));
    }
}

} // namespace assay::store
