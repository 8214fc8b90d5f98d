// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/clock.h"
#include "server/core/digest.h"
#include "server/store/connection.h"

#include <vector>

namespace assay::store {

/// One agent. A deleted one keeps its row, so that a later save goes on with its numbers.
struct AgentRow
{
    std::string name;
    std::uint64_t version = 0; ///< grows with every change of the row, over a deletion too
    std::string revision;      ///< "rev_..." of the current definition
    std::uint64_t number = 0;
    Timestamp createdAt;
    Timestamp updatedAt;
    std::optional<Timestamp> deletedAt;
};

/// One immutable definition.
struct AgentRevisionRow
{
    std::uint64_t number = 0;
    std::string id;
    std::optional<Digest> digest; ///< empty only when the stored value is damaged
    std::string definition;       ///< JSON of the registry's own form
    std::string publisher;
    Timestamp createdAt;
};

/// The SQL of the tables `agents` and `agent_revisions`, one exact scope at a time. Confined to its connection.
class AgentTable
{
public:
    explicit AgentTable(Connection& connection) : m_connection(connection) {}

    /// Deleted ones too: the caller judges.
    Result<std::optional<AgentRow>> find(std::string_view fingerprint, std::string_view name);
    /// Inserts, or replaces all but `createdAt`.
    Result<void> put(std::string_view fingerprint, const AgentRow& row);
    /// In the byte order of names, without deleted ones, after `afterName`; see SkillTable::list for `more`.
    struct Listed
    {
        std::vector<AgentRow> rows;
        std::optional<std::string> more;
    };
    Result<Listed> list(std::string_view fingerprint, std::string_view afterName, std::uint32_t limit);

    Result<void> insertRevision(std::string_view fingerprint, std::string_view agent, const AgentRevisionRow& row);
    Result<std::optional<AgentRevisionRow>> findRevision(std::string_view fingerprint, std::string_view agent,
                                                         std::uint64_t number);
    /// Newest first, those below `beforeNumber` (0: from the newest), at most `limit`.
    Result<std::vector<AgentRevisionRow>> listRevisions(std::string_view fingerprint, std::string_view agent,
                                                        std::uint64_t beforeNumber, std::uint32_t limit);

    static constexpr std::uint32_t kMaxScanned = 20'000;

private:
    Connection& m_connection;
};

} // namespace assay::store
