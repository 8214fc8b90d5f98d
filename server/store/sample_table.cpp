// SPDX-License-Identifier: Apache-2.0
#include "server/store/sample_table.h"

namespace assay::store {

namespace {

SampleRow readSample(const Statement& row)
{
    return {std::string(row.text(0)), static_cast<std::uint64_t>(row.integer(1)),
            std::string(row.text(2)), row.timestamp(3),
            row.timestamp(4),         std::string(row.text(5))};
}

} // namespace

Result<std::optional<SampleRow>> SampleTable::find(std::string_view fingerprint, std::string_view skill,
                                                   std::string_view name)
{
    auto query = m_connection.prepare("SELECT name, version, author, created_at, updated_at, definition"
                                      " FROM skill_samples WHERE fingerprint = ? AND skill = ? AND name = ?");
    if (!query)
        return forward(query);
    const auto found = query->bind(fingerprint).bind(skill).bind(name).step();
    if (!found)
        return std::unexpected(found.error());
    return *found ? std::optional(readSample(*query)) : std::nullopt;
}

Result<void> SampleTable::put(std::string_view fingerprint, std::string_view skill, const SampleRow& row)
{
    auto query = m_connection.prepare(
        "INSERT INTO skill_samples(fingerprint, skill, name, version, author, created_at, updated_at, definition)"
        " VALUES(?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT(fingerprint, skill, name) DO UPDATE SET"
        " version = excluded.version, updated_at = excluded.updated_at, definition = excluded.definition");
    if (!query)
        return forward(query);
    query->bind(fingerprint).bind(skill).bind(row.name).bind(static_cast<std::int64_t>(row.version));
    return query->bind(row.author).bind(row.createdAt).bind(row.updatedAt).bind(row.definition).run();
}

Result<bool> SampleTable::remove(std::string_view fingerprint, std::string_view skill, std::string_view name)
{
    auto query = m_connection.prepare("DELETE FROM skill_samples WHERE fingerprint = ? AND skill = ? AND name = ?");
    if (!query)
        return forward(query);
    if (auto done = query->bind(fingerprint).bind(skill).bind(name).run(); !done)
        return forward(done);
    const bool removed = m_connection.changes() > 0;
    auto runs = m_connection.prepare("DELETE FROM sample_runs WHERE fingerprint = ? AND skill = ? AND sample = ?");
    if (!runs)
        return forward(runs);
    if (auto done = runs->bind(fingerprint).bind(skill).bind(name).run(); !done)
        return forward(done);
    return removed;
}

Result<std::vector<SampleRow>> SampleTable::list(std::string_view fingerprint, std::string_view skill)
{
    auto query = m_connection.prepare("SELECT name, version, author, created_at, updated_at, definition"
                                      " FROM skill_samples WHERE fingerprint = ? AND skill = ? ORDER BY name");
    if (!query)
        return forward(query);
    query->bind(fingerprint).bind(skill);
    std::vector<SampleRow> out;
    for (;;) {
        const auto found = query->step();
        if (!found)
            return std::unexpected(found.error());
        if (!*found)
            return out;
        out.push_back(readSample(*query));
    }
}

Result<void> SampleTable::addRun(std::string_view fingerprint, std::string_view skill, const SampleRunRow& row)
{
    auto query = m_connection.prepare("INSERT INTO sample_runs(fingerprint, skill, digest, sample, run, sample_version,"
                                      " started_by, started_at) VALUES(?, ?, ?, ?, ?, ?, ?, ?)");
    if (!query)
        return forward(query);
    query->bind(fingerprint).bind(skill).bindBlob(row.digest.bytes()).bind(row.sample).bind(row.run);
    return query->bind(static_cast<std::int64_t>(row.sampleVersion)).bind(row.startedBy).bind(row.startedAt).run();
}

Result<std::optional<SampleRunRow>> SampleTable::newestRun(std::string_view fingerprint, std::string_view skill,
                                                           const Digest& digest, std::string_view sample)
{
    auto query = m_connection.prepare("SELECT run, sample_version, started_by, started_at FROM sample_runs"
                                      " WHERE fingerprint = ? AND skill = ? AND digest = ? AND sample = ?"
                                      " ORDER BY run DESC LIMIT 1");
    if (!query)
        return forward(query);
    const auto found = query->bind(fingerprint).bind(skill).bindBlob(digest.bytes()).bind(sample).step();
    if (!found)
        return std::unexpected(found.error());
    if (!*found)
        return std::nullopt;
    return SampleRunRow{digest,
                        std::string(sample),
                        std::string(query->text(0)),
                        static_cast<std::uint64_t>(query->integer(1)),
                        std::string(query->text(2)),
                        query->timestamp(3)};
}

Result<void> SampleTable::insert(std::string_view fingerprint, const ComparisonRow& row)
{
    auto query = m_connection.prepare("INSERT INTO comparisons(fingerprint, id, skill, sample, from_revision, from_run,"
                                      " to_revision, to_run, started_by, started_at)"
                                      " VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    if (!query)
        return forward(query);
    query->bind(fingerprint).bind(row.id).bind(row.skill).bind(row.sample).bind(row.fromRevision).bind(row.fromRun);
    return query->bind(row.toRevision).bind(row.toRun).bind(row.startedBy).bind(row.startedAt).run();
}

Result<std::optional<ComparisonRow>> SampleTable::comparison(std::string_view fingerprint, std::string_view id)
{
    auto query = m_connection.prepare("SELECT id, skill, sample, from_revision, from_run, to_revision, to_run,"
                                      " started_by, started_at FROM comparisons WHERE fingerprint = ? AND id = ?");
    if (!query)
        return forward(query);
    const auto found = query->bind(fingerprint).bind(id).step();
    if (!found)
        return std::unexpected(found.error());
    if (!*found)
        return std::nullopt;
    const auto text = [&](int column) { return std::string(query->text(column)); };
    return ComparisonRow{text(0), text(1), text(2), text(3), text(4), text(5), text(6), text(7), query->timestamp(8)};
}

} // namespace assay::store
