// SPDX-License-Identifier: Apache-2.0
#include "server/store/expired_rows.h"

#include <array>

namespace assay::store {

namespace {

// Of one run in one write job: others wait for a job of the collector no longer than for a publish.
constexpr std::int64_t kCommandsAtOnce = 64;
constexpr std::int64_t kCommandBytesAtOnce = 4 << 20;

// A revision that is past its time, whoever pins it. ?1 is the scope, ?2 the time.
#define ASSAY_EXPIRED_REVISION                                                                                         \
    "(EXISTS (SELECT 1 FROM skills s WHERE s.fingerprint = ?1 AND s.name = r.skill AND s.deleted_at < ?2)"             \
    " OR (coalesce(r.withdrawn_at < ?2, 0) AND NOT EXISTS (SELECT 1 FROM skills s WHERE s.fingerprint = ?1 AND "       \
    "s.name = r.skill"                                                                                                 \
    " AND (s.current_revision = r.id OR s.shown_revision = r.id))))"

// Pinned by the manifest of a run that did not end before ?3.
#define ASSAY_PINNED                                                                                                   \
    "EXISTS (SELECT 1 FROM run_skills p JOIN runs u ON u.fingerprint = p.fingerprint AND u.id = p.run"                 \
    " WHERE p.fingerprint = ?1 AND p.digest = r.digest AND (u.ended_at IS NULL OR u.ended_at >= ?3))"

std::int64_t milliseconds(Timestamp time) { return time.time_since_epoch().count(); }

Result<std::vector<ExpiredRow>> readRows(Statement& query)
{
    std::vector<ExpiredRow> out;
    for (;;) {
        const auto row = query.step();
        if (!row)
            return std::unexpected(row.error());
        if (!*row)
            return out;
        out.push_back({.key = std::string(query.text(0)),
                       .at = query.timestamp(1),
                       .bytes = static_cast<std::uint64_t>(query.integer(2))});
    }
}

} // namespace

Result<std::optional<std::string>> ExpiredRows::nextScope(std::string_view afterFingerprint)
{
    constexpr std::array<std::string_view, 4> kSources{
        "SELECT min(fingerprint) FROM runs WHERE fingerprint > ?",
        "SELECT min(fingerprint) FROM artifacts WHERE fingerprint > ?",
        "SELECT min(fingerprint) FROM skills WHERE fingerprint > ?",
        "SELECT min(fingerprint) FROM revisions WHERE fingerprint > ?",
    };
    std::optional<std::string> out;
    for (const std::string_view sql : kSources) {
        auto query = m_connection.prepare(sql);
        if (!query)
            return forward(query);
        const auto found = query->bind(afterFingerprint).step();
        if (!found)
            return std::unexpected(found.error());
        if (*found && !query->isNull(0) && (!out || query->text(0) < *out))
            out = std::string(query->text(0));
    }
    return out;
}

Result<std::vector<ExpiredRow>> ExpiredRows::runs(std::string_view fingerprint, Timestamp before,
                                                  const ExpiredRow* after, std::uint32_t limit)
{
    auto query = m_connection.prepare(
        "SELECT id, ended_at, length(manifest)"
        " + coalesce((SELECT length(events) FROM run_events e WHERE e.fingerprint = ?1 AND e.run = runs.id), 0)"
        " + coalesce((SELECT sum(length(stdout_head) + length(stdout_tail) + length(stderr_head) + length(stderr_tail))"
        " FROM commands c WHERE c.fingerprint = ?1 AND c.run = runs.id), 0)"
        " FROM runs WHERE fingerprint = ?1 AND ended_at < ?2 AND (ended_at, id) > (?3, ?4) ORDER BY ended_at, id LIMIT "
        "?5");
    if (!query)
        return forward(query);
    query->bind(fingerprint).bind(before).bind(after ? milliseconds(after->at) : INT64_MIN);
    query->bind(after ? std::string_view(after->key) : std::string_view()).bind(std::int64_t{limit});
    return readRows(*query);
}

Result<std::vector<ExpiredRow>> ExpiredRows::artifacts(std::string_view fingerprint, Timestamp before,
                                                       const ExpiredRow* after, std::uint32_t limit)
{
    auto query =
        m_connection.prepare("SELECT id, created_at, 0 FROM artifacts WHERE fingerprint = ?1 AND created_at < ?2"
                             " AND (created_at, id) > (?3, ?4) ORDER BY created_at, id LIMIT ?5");
    if (!query)
        return forward(query);
    query->bind(fingerprint).bind(before).bind(after ? milliseconds(after->at) : INT64_MIN);
    query->bind(after ? std::string_view(after->key) : std::string_view()).bind(std::int64_t{limit});
    return readRows(*query);
}

Result<std::vector<ExpiredRow>> ExpiredRows::revisions(std::string_view fingerprint, const Cutoffs& cutoffs,
                                                       const ExpiredRow* after, std::uint32_t limit)
{
    auto query = m_connection.prepare(
        "SELECT r.id, 0, length(r.files) FROM revisions r WHERE r.fingerprint = ?1 AND r.id > ?4 AND r.id IN"
        " (SELECT id FROM revisions WHERE fingerprint = ?1 AND withdrawn_at < ?2"
        " UNION SELECT x.id FROM skills d JOIN revisions x ON x.fingerprint = ?1 AND x.skill = d.name"
        " WHERE d.fingerprint = ?1 AND d.deleted_at < ?2)"
        " AND " ASSAY_EXPIRED_REVISION " AND NOT " ASSAY_PINNED " ORDER BY r.id LIMIT ?5");
    if (!query)
        return forward(query);
    query->bind(fingerprint).bind(cutoffs.revisions).bind(cutoffs.runs);
    query->bind(after ? std::string_view(after->key) : std::string_view()).bind(std::int64_t{limit});
    return readRows(*query);
}

Result<std::vector<ExpiredRow>> ExpiredRows::skills(std::string_view fingerprint, const Cutoffs& cutoffs,
                                                    const ExpiredRow* after, std::uint32_t limit)
{
    auto query = m_connection.prepare(
        "SELECT k.name, 0, length(k.description) FROM skills k WHERE k.fingerprint = ?1 AND k.deleted_at < ?2"
        " AND k.name > ?4 AND NOT EXISTS (SELECT 1 FROM revisions r WHERE r.fingerprint = ?1 AND r.skill = k.name"
        " AND " ASSAY_PINNED ") ORDER BY k.name LIMIT ?5");
    if (!query)
        return forward(query);
    query->bind(fingerprint).bind(cutoffs.revisions).bind(cutoffs.runs);
    query->bind(after ? std::string_view(after->key) : std::string_view()).bind(std::int64_t{limit});
    return readRows(*query);
}

Result<RowRemoval> ExpiredRows::removeRun(std::string_view fingerprint, std::string_view id, Timestamp before)
{
    {
        auto query = m_connection.prepare("SELECT 1 FROM runs WHERE fingerprint = ? AND id = ? AND ended_at < ?");
        if (!query)
            return forward(query);
        const auto found = query->bind(fingerprint).bind(id).bind(before).step();
        if (!found || !*found)
            return found ? Result<RowRemoval>(RowRemoval::Kept) : std::unexpected(found.error());
    }
    const auto isBare = removeCommands(fingerprint, id);
    if (!isBare)
        return std::unexpected(isBare.error());
    if (!*isBare)
        return RowRemoval::Partly;
    if (auto done = removeRunRows(fingerprint, id); !done)
        return forward(done);
    return RowRemoval::Gone;
}

// True when none is left.
Result<bool> ExpiredRows::removeCommands(std::string_view fingerprint, std::string_view run)
{
    std::vector<std::int64_t> rows;
    bool isLast = false;
    {
        auto query = m_connection.prepare(
            "SELECT rowid, length(stdout_head) + length(stdout_tail) + length(stderr_head) + length(stderr_tail)"
            " FROM commands WHERE fingerprint = ? AND run = ? LIMIT ?");
        if (!query)
            return forward(query);
        query->bind(fingerprint).bind(run).bind(kCommandsAtOnce);
        for (std::int64_t bytes = 0; bytes < kCommandBytesAtOnce;) {
            const auto row = query->step();
            if (!row)
                return std::unexpected(row.error());
            isLast = !*row && static_cast<std::int64_t>(rows.size()) < kCommandsAtOnce;
            if (!*row)
                break;
            rows.push_back(query->integer(0));
            bytes += query->integer(1);
        }
    }
    auto query = m_connection.prepare("DELETE FROM commands WHERE rowid = ?");
    if (!query)
        return forward(query);
    for (const std::int64_t row : rows) {
        query->restart();
        if (auto done = query->bind(row).run(); !done)
            return forward(done);
    }
    return isLast;
}

Result<void> ExpiredRows::removeRunRows(std::string_view fingerprint, std::string_view run)
{
    constexpr std::array<std::string_view, 7> kDeletes{
        "DELETE FROM sample_runs WHERE fingerprint = ? AND run = ?",
        "DELETE FROM comparisons WHERE fingerprint = ? AND from_run = ?",
        "DELETE FROM comparisons WHERE fingerprint = ? AND to_run = ?",
        "DELETE FROM run_events WHERE fingerprint = ? AND run = ?",
        "DELETE FROM artifacts WHERE fingerprint = ? AND run = ?",
        "DELETE FROM run_skills WHERE fingerprint = ? AND run = ?",
        "DELETE FROM runs WHERE fingerprint = ? AND id = ?",
    };
    for (const std::string_view sql : kDeletes) {
        auto query = m_connection.prepare(sql);
        if (!query)
            return forward(query);
        if (auto done = query->bind(fingerprint).bind(run).run(); !done)
            return done;
    }
    return {};
}

Result<RowRemoval> ExpiredRows::judged(Result<void> done) const
{
    if (!done)
        return forward(done);
    return m_connection.changes() > 0 ? RowRemoval::Gone : RowRemoval::Kept;
}

Result<RowRemoval> ExpiredRows::removeArtifact(std::string_view fingerprint, std::string_view id, Timestamp before)
{
    auto query = m_connection.prepare("DELETE FROM artifacts WHERE fingerprint = ? AND id = ? AND created_at < ?");
    if (!query)
        return forward(query);
    return judged(query->bind(fingerprint).bind(id).bind(before).run());
}

Result<RowRemoval> ExpiredRows::removeRevision(std::string_view fingerprint, std::string_view id, Timestamp before)
{
    // Every manifest counts here: also one that only waits to be removed still promises its bytes.
    auto query = m_connection.prepare("DELETE FROM revisions AS r WHERE r.fingerprint = ?1 AND r.id = ?4"
                                      " AND " ASSAY_EXPIRED_REVISION " AND NOT " ASSAY_PINNED);
    if (!query)
        return forward(query);
    query->bind(fingerprint).bind(before).bind(Timestamp::min()).bind(id);
    return judged(query->run());
}

// Nothing that is told of a skill outlives its row: a new skill of the name begins anew. True when none is left.
Result<bool> ExpiredRows::removeReviewRows(std::string_view fingerprint, std::string_view skill)
{
    struct Delete
    {
        std::string_view sql; // ?3: so many at once
        std::int64_t limit;
    };
    constexpr std::int64_t kRows = 200;
    constexpr std::int64_t kSamples = 16; // of up to 256 KiB
    // What names a proposal goes before it.
    constexpr std::array<Delete, 9> kDeletes{{
        {"DELETE FROM proposal_comments WHERE rowid IN (SELECT c.rowid FROM proposals p JOIN proposal_comments c"
         " ON c.fingerprint = p.fingerprint AND c.proposal = p.id WHERE p.fingerprint = ?1 AND p.skill = ?2 LIMIT ?3)",
         kRows},
        {"DELETE FROM proposal_reviews WHERE (fingerprint, proposal, id) IN (SELECT r.fingerprint, r.proposal, r.id"
         " FROM proposals p JOIN proposal_reviews r ON r.fingerprint = p.fingerprint AND r.proposal = p.id"
         " WHERE p.fingerprint = ?1 AND p.skill = ?2 LIMIT ?3)",
         kRows},
        {"DELETE FROM proposals WHERE rowid IN"
         " (SELECT rowid FROM proposals WHERE fingerprint = ?1 AND skill = ?2 LIMIT ?3)",
         kRows},
        {"DELETE FROM promotions WHERE (fingerprint, skill, sequence) IN"
         " (SELECT fingerprint, skill, sequence FROM promotions WHERE fingerprint = ?1 AND skill = ?2 LIMIT ?3)",
         kRows},
        {"DELETE FROM viewed_files WHERE (fingerprint, skill, principal, path) IN"
         " (SELECT fingerprint, skill, principal, path FROM viewed_files WHERE fingerprint = ?1 AND skill = ?2"
         " LIMIT ?3)",
         kRows},
        {"DELETE FROM capability_acknowledgements WHERE (fingerprint, skill, digest, base_digest, principal) IN"
         " (SELECT fingerprint, skill, digest, base_digest, principal FROM capability_acknowledgements"
         " WHERE fingerprint = ?1 AND skill = ?2 LIMIT ?3)",
         kRows},
        {"DELETE FROM sample_runs WHERE (fingerprint, skill, digest, sample, run) IN"
         " (SELECT fingerprint, skill, digest, sample, run FROM sample_runs WHERE fingerprint = ?1 AND skill = ?2"
         " LIMIT ?3)",
         kRows},
        {"DELETE FROM skill_samples WHERE rowid IN"
         " (SELECT rowid FROM skill_samples WHERE fingerprint = ?1 AND skill = ?2 LIMIT ?3)",
         kSamples},
        {"DELETE FROM comparisons WHERE rowid IN"
         " (SELECT rowid FROM comparisons WHERE fingerprint = ?1 AND skill = ?2 LIMIT ?3)",
         kRows},
    }};
    for (const Delete& one : kDeletes) {
        auto query = m_connection.prepare(one.sql);
        if (!query)
            return forward(query);
        if (auto done = query->bind(fingerprint).bind(skill).bind(one.limit).run(); !done)
            return forward(done);
        if (m_connection.changes() >= one.limit)
            return false;
    }
    return true;
}

Result<RowRemoval> ExpiredRows::removeSkill(std::string_view fingerprint, std::string_view name, Timestamp before)
{
    {
        auto query = m_connection.prepare(
            "SELECT 1 FROM skills WHERE fingerprint = ?1 AND name = ?2 AND deleted_at < ?3"
            " AND NOT EXISTS (SELECT 1 FROM revisions r WHERE r.fingerprint = ?1 AND r.skill = ?2)");
        if (!query)
            return forward(query);
        const auto found = query->bind(fingerprint).bind(name).bind(before).step();
        if (!found)
            return std::unexpected(found.error());
        if (!*found)
            return RowRemoval::Kept;
    }
    const auto isBare = removeReviewRows(fingerprint, name);
    if (!isBare)
        return std::unexpected(isBare.error());
    if (!*isBare)
        return RowRemoval::Partly;
    auto query = m_connection.prepare("DELETE FROM skills WHERE fingerprint = ?1 AND name = ?2");
    if (!query)
        return forward(query);
    return judged(query->bind(fingerprint).bind(name).run());
}

} // namespace assay::store
