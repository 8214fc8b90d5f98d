// SPDX-License-Identifier: Apache-2.0
#include "server/store/agent_table.h"

#include "server/store/row_list.h"

#include <limits>

namespace assay::store {

namespace {

AgentRow readAgent(const Statement& row)
{
    AgentRow out;
    out.name = row.text(0);
    out.version = static_cast<std::uint64_t>(row.integer(1));
    out.revision = row.text(2);
    out.number = static_cast<std::uint64_t>(row.integer(3));
    out.createdAt = row.timestamp(4);
    out.updatedAt = row.timestamp(5);
    out.deletedAt = row.optionalTimestamp(6);
    return out;
}

AgentRevisionRow readRevision(const Statement& row)
{
    AgentRevisionRow out;
    out.number = static_cast<std::uint64_t>(row.integer(0));
    out.id = row.text(1);
    if (auto digest = Digest::fromBytes(row.blob(2)))
        out.digest = *digest;
    out.definition = row.text(3);
    out.publisher = row.text(4);
    out.createdAt = row.timestamp(5);
    return out;
}

} // namespace

Result<std::optional<AgentRow>> AgentTable::find(std::string_view fingerprint, std::string_view name)
{
    auto query = m_connection.prepare("SELECT name, version, revision, number, created_at, updated_at, deleted_at"
                                      " FROM agents WHERE fingerprint = ? AND name = ?");
    if (!query)
        return forward(query);
    const auto found = query->bind(fingerprint).bind(name).step();
    if (!found)
        return std::unexpected(found.error());
    return *found ? std::optional(readAgent(*query)) : std::nullopt;
}

Result<void> AgentTable::put(std::string_view fingerprint, const AgentRow& row)
{
    auto query = m_connection.prepare(
        "INSERT INTO agents(fingerprint, name, version, revision, number, created_at, updated_at, deleted_at)"
        " VALUES(?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT(fingerprint, name) DO UPDATE SET version = excluded.version,"
        " revision = excluded.revision, number = excluded.number, updated_at = excluded.updated_at,"
        " deleted_at = excluded.deleted_at");
    if (!query)
        return forward(query);
    query->bind(fingerprint).bind(row.name).bind(static_cast<std::int64_t>(row.version)).bind(row.revision);
    query->bind(static_cast<std::int64_t>(row.number)).bind(row.createdAt).bind(row.updatedAt).bind(row.deletedAt);
    return query->run();
}

Result<AgentTable::Listed> AgentTable::list(std::string_view fingerprint, std::string_view afterName,
                                            std::uint32_t limit)
{
    auto query = m_connection.prepare("SELECT name, version, revision, number, created_at, updated_at, deleted_at"
                                      " FROM agents WHERE fingerprint = ? AND name > ? ORDER BY name");
    if (!query)
        return forward(query);
    query->bind(fingerprint).bind(afterName);
    return readPage<Listed>(*query, limit, kMaxScanned, [](const Statement& row) { return row.isNull(6); }, readAgent);
}

Result<void> AgentTable::insertRevision(std::string_view fingerprint, std::string_view agent,
                                        const AgentRevisionRow& row)
{
    auto query = m_connection.prepare("INSERT INTO agent_revisions(fingerprint, agent, number, id, digest, definition,"
                                      " publisher, created_at) VALUES(?, ?, ?, ?, ?, ?, ?, ?)");
    if (!query)
        return forward(query);
    if (!row.digest)
        return fail(ErrorCode::Internal, "a revision has no digest");
    query->bind(fingerprint).bind(agent).bind(static_cast<std::int64_t>(row.number)).bind(row.id);
    query->bindBlob(row.digest->bytes()).bind(row.definition).bind(row.publisher).bind(row.createdAt);
    return query->run();
}

Result<std::optional<AgentRevisionRow>> AgentTable::findRevision(std::string_view fingerprint, std::string_view agent,
                                                                 std::uint64_t number)
{
    auto query = m_connection.prepare("SELECT number, id, digest, definition, publisher, created_at"
                                      " FROM agent_revisions WHERE fingerprint = ? AND agent = ? AND number = ?");
    if (!query)
        return forward(query);
    const auto found = query->bind(fingerprint).bind(agent).bind(static_cast<std::int64_t>(number)).step();
    if (!found)
        return std::unexpected(found.error());
    return *found ? std::optional(readRevision(*query)) : std::nullopt;
}

Result<std::vector<AgentRevisionRow>> AgentTable::listRevisions(std::string_view fingerprint, std::string_view agent,
                                                                std::uint64_t beforeNumber, std::uint32_t limit)
{
    auto query = m_connection.prepare("SELECT number, id, digest, definition, publisher, created_at"
                                      " FROM agent_revisions WHERE fingerprint = ? AND agent = ? AND number < ?"
                                      " ORDER BY number DESC LIMIT ?");
    if (!query)
        return forward(query);
    constexpr std::int64_t kNewest = std::numeric_limits<std::int64_t>::max();
    query->bind(fingerprint).bind(agent);
    query->bind(beforeNumber == 0 ? kNewest : static_cast<std::int64_t>(beforeNumber)).bind(std::int64_t{limit});
    return readRows(*query, readRevision);
}

} // namespace assay::store
