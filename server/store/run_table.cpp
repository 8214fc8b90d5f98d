// SPDX-License-Identifier: Apache-2.0
#include "server/store/run_table.h"

namespace assay::store {

namespace {

#define ASSAY_RUN_COLUMNS                                                                                              \
    "id, state, agent, agent_revision, session, driver, base_digest, manifest_digest, phases, usage,"                  \
    " rejected_outputs, termination, reason, message, creator, created_at, ended_at, output_check, subagent"

constexpr int kManifest = 19; // after the columns above

RunRow readRow(const Statement& row)
{
    RunRow out;
    out.id = row.text(0);
    out.state = row.text(1);
    out.agent = row.text(2);
    out.agentRevision = row.text(3);
    out.session = row.integer(4) != 0;
    out.driver = row.text(5);
    out.baseDigest = row.text(6);
    out.manifestDigest = row.text(7);
    out.phases = row.text(8);
    out.usage = row.text(9);
    out.rejectedOutputs = row.text(10);
    out.termination = row.text(11);
    out.reason = row.text(12);
    out.message = row.text(13);
    out.creator = row.text(14);
    out.createdAt = row.timestamp(15);
    out.endedAt = row.optionalTimestamp(16);
    out.outputCheck = row.text(17);
    out.subagent = row.text(18);
    return out;
}

bool isWanted(const Statement& row, const RunQuery& query)
{
    if (!query.state.empty() && row.text(1) != query.state)
        return false;
    if (!query.agent.empty() && row.text(2) != query.agent)
        return false;
    return !query.since || row.timestamp(15) >= *query.since;
}

// Ids follow age, but a wall clock may have been set back a little between two runs.
bool isPast(const Statement& row, const RunQuery& query)
{
    return query.since && row.timestamp(15) < *query.since - std::chrono::hours(1);
}

Result<void> mustExist(Result<void> done, const Connection& connection)
{
    if (done && connection.changes() == 0)
        return fail(ErrorCode::NotFound, "there is no such run");
    return done;
}

} // namespace

Result<void> RunTable::insert(std::string_view fingerprint, const RunRow& row)
{
    auto query = m_connection.prepare("INSERT INTO runs(fingerprint, " ASSAY_RUN_COLUMNS ", manifest) VALUES"
                                      "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    if (!query)
        return forward(query);
    query->bind(fingerprint).bind(row.id).bind(row.state).bind(row.agent).bind(row.agentRevision);
    query->bind(std::int64_t{row.session}).bind(row.driver).bind(row.baseDigest).bind(row.manifestDigest);
    query->bind(row.phases).bind(row.usage).bind(row.rejectedOutputs).bind(row.termination).bind(row.reason);
    query->bind(row.message).bind(row.creator).bind(row.createdAt).bind(row.endedAt).bind(row.outputCheck);
    query->bind(row.subagent).bindBlob(row.manifest);
    if (auto done = query->run(); !done)
        return done;
    return insertSkills(fingerprint, row.id, row.skills);
}

Result<void> RunTable::insertSkills(std::string_view fingerprint, std::string_view id,
                                    const std::vector<RunSkillRow>& skills)
{
    auto query = m_connection.prepare("INSERT INTO run_skills(fingerprint, run, name, position, revision, number,"
                                      " digest) VALUES(?, ?, ?, ?, ?, ?, ?)");
    if (!query)
        return forward(query);
    std::int64_t position = 0;
    for (const RunSkillRow& skill : skills) {
        query->restart();
        query->bind(fingerprint).bind(id).bind(skill.name).bind(position++).bind(skill.revision);
        query->bind(static_cast<std::int64_t>(skill.number)).bindBlob(skill.digest.bytes());
        if (auto done = query->run(); !done)
            return done;
    }
    return {};
}

Result<void> RunTable::pin(std::string_view fingerprint, std::string_view id, std::string_view manifest,
                           std::string_view manifestDigest, const std::vector<RunSkillRow>& skills)
{
    {
        auto query =
            m_connection.prepare("UPDATE runs SET manifest = ?, manifest_digest = ? WHERE fingerprint = ? AND id = ?");
        if (!query)
            return forward(query);
        query->bindBlob(manifest).bind(manifestDigest).bind(fingerprint).bind(id);
        if (auto done = mustExist(query->run(), m_connection); !done)
            return done;
    }
    auto clear = m_connection.prepare("DELETE FROM run_skills WHERE fingerprint = ? AND run = ?");
    if (!clear)
        return forward(clear);
    if (auto done = clear->bind(fingerprint).bind(id).run(); !done)
        return done;
    return insertSkills(fingerprint, id, skills);
}

Result<void> RunTable::update(std::string_view fingerprint, std::string_view id, const RunProgress& progress)
{
    auto query = m_connection.prepare("UPDATE runs SET state = ?, phases = ?, usage = ?, rejected_outputs = ?,"
                                      " output_check = ?,"
                                      " termination = ?, reason = ?, message = ?, ended_at = ?"
                                      " WHERE fingerprint = ? AND id = ?");
    if (!query)
        return forward(query);
    query->bind(progress.state).bind(progress.phases).bind(progress.usage).bind(progress.rejectedOutputs);
    query->bind(progress.outputCheck);
    query->bind(progress.termination).bind(progress.reason).bind(progress.message).bind(progress.endedAt);
    return mustExist(query->bind(fingerprint).bind(id).run(), m_connection);
}

Result<std::optional<RunRow>> RunTable::find(std::string_view fingerprint, std::string_view id)
{
    auto query =
        m_connection.prepare("SELECT " ASSAY_RUN_COLUMNS ", manifest FROM runs WHERE fingerprint = ? AND id = ?");
    if (!query)
        return forward(query);
    const auto found = query->bind(fingerprint).bind(id).step();
    if (!found)
        return std::unexpected(found.error());
    if (!*found)
        return std::nullopt;
    RunRow row = readRow(*query);
    row.manifest = query->blob(kManifest);
    auto skills = skillsOf(fingerprint, id);
    if (!skills)
        return forward(skills);
    row.skills = std::move(*skills);
    return row;
}

Result<RunTable::Listed> RunTable::list(std::string_view fingerprint, const RunQuery& wanted)
{
    auto query = m_connection.prepare("SELECT " ASSAY_RUN_COLUMNS
                                      " FROM runs WHERE fingerprint = ? AND id < ? ORDER BY id DESC");
    if (!query)
        return forward(query);
    // Every id sorts below "~".
    query->bind(fingerprint).bind(wanted.beforeId.empty() ? std::string_view("~") : std::string_view(wanted.beforeId));
    Listed out;
    std::string last;
    for (std::uint32_t scanned = 0;; ++scanned) {
        const auto row = query->step();
        if (!row)
            return std::unexpected(row.error());
        if (!*row || isPast(*query, wanted))
            return out;
        if (out.rows.size() == wanted.limit || scanned == kMaxScanned) {
            out.more = std::move(last);
            return out;
        }
        last = query->text(0);
        if (!isWanted(*query, wanted))
            continue;
        const auto uses = wanted.skill.empty() ? Result<bool>(true) : usesSkill(fingerprint, last, wanted.skill);
        if (!uses)
            return std::unexpected(uses.error());
        if (!*uses)
            continue;
        out.rows.push_back(readRow(*query));
        auto skills = skillsOf(fingerprint, last);
        if (!skills)
            return forward(skills);
        out.rows.back().skills = std::move(*skills);
    }
}

Result<std::vector<RunSkillRow>> RunTable::skillsOf(std::string_view fingerprint, std::string_view id)
{
    auto query = m_connection.prepare("SELECT name, revision, number, digest FROM run_skills"
                                      " WHERE fingerprint = ? AND run = ? ORDER BY position");
    if (!query)
        return forward(query);
    query->bind(fingerprint).bind(id);
    std::vector<RunSkillRow> out;
    for (;;) {
        const auto row = query->step();
        if (!row)
            return std::unexpected(row.error());
        if (!*row)
            return out;
        out.push_back({std::string(query->text(0)), std::string(query->text(1)),
                       static_cast<std::uint64_t>(query->integer(2)),
                       Digest::fromBytes(query->blob(3)).value_or(Digest())});
    }
}

Result<bool> RunTable::usesSkill(std::string_view fingerprint, std::string_view id, std::string_view skill)
{
    auto query = m_connection.prepare("SELECT 1 FROM run_skills WHERE fingerprint = ? AND run = ? AND name = ?");
    if (!query)
        return forward(query);
    return query->bind(fingerprint).bind(id).bind(skill).step();
}

Result<std::vector<RunKey>> RunTable::unfinished(std::uint32_t limit)
{
    auto query = m_connection.prepare("SELECT fingerprint, id FROM runs WHERE ended_at IS NULL LIMIT ?");
    if (!query)
        return forward(query);
    query->bind(std::int64_t{limit});
    std::vector<RunKey> out;
    for (;;) {
        const auto row = query->step();
        if (!row)
            return std::unexpected(row.error());
        if (!*row)
            return out;
        out.push_back({std::string(query->text(0)), std::string(query->text(1))});
    }
}

Result<std::int64_t> RunTable::interruptUnfinished(Timestamp now, std::string_view message)
{
    auto query = m_connection.prepare("UPDATE runs SET state = 'failed', reason = 'interrupted', message = ?,"
                                      " ended_at = ? WHERE ended_at IS NULL");
    if (!query)
        return forward(query);
    if (auto done = query->bind(message).bind(now).run(); !done)
        return forward(done);
    return m_connection.changes();
}

} // namespace assay::store
