// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/clock.h"
#include "server/core/digest.h"
#include "server/store/connection.h"

#include <vector>

namespace assay::store {

/// What answers about a skill tell of one revision, the current one or else the last that was. Kept in the skill's own
/// row, for a page of skills must not read two rows each.
struct ShownRevision
{
    std::string id;
    std::uint64_t number = 0;
    std::optional<Digest> digest; ///< empty only when the stored value is damaged
    std::uint64_t fileCount = 0;
    std::uint64_t sizeBytes = 0;
    std::string lints;   ///< JSON of the registry's own form
    std::string ignored; ///< likewise
    bool requiresExecution = false;
};

/// One skill. A deleted one keeps its row, so that a later publish goes on with its numbers.
struct SkillRow
{
    std::string name;
    std::uint64_t version = 0; ///< grows with every change of the row, over a deletion too
    bool enabled = true;
    std::string state;           ///< "current", "proposed" or "withdrawn": whether a revision is current, else why none
    std::string currentRevision; ///< empty when none is current
    ShownRevision shown;
    std::uint64_t lastNumber = 0; ///< the newest revision's
    Timestamp createdAt;
    Timestamp updatedAt;
    std::optional<Timestamp> deletedAt;
    std::string visibility;
    std::string labels; ///< JSON object of strings
    std::string description;
    std::string searchText; ///< what `q` looks in, case-folded; not filled by reads
};

struct SkillQuery
{
    std::string text; ///< case-folded; empty members do not filter
    std::optional<bool> enabled;
    std::string state;
    std::string afterName;
    std::uint32_t limit = 50;
};

/// The SQL of the table `skills`, one exact scope at a time. Confined to its connection.
class SkillTable
{
public:
    explicit SkillTable(Connection& connection) : m_connection(connection) {}

    /// Deleted ones too: the caller judges.
    Result<std::optional<SkillRow>> find(std::string_view fingerprint, std::string_view name);
    Result<void> insert(std::string_view fingerprint, const SkillRow& row);
    /// Replaces all but `createdAt`; `NotFound` without the row. Without `searchText` that column stays.
    Result<void> update(std::string_view fingerprint, const SkillRow& row);
    /// In the byte order of names, without deleted ones. Looks at `kMaxScanned` rows at most: `more` then says where to
    /// go on, also when `rows` is short.
    struct Listed
    {
        std::vector<SkillRow> rows;
        std::optional<std::string> more; ///< the next query's `afterName`; empty at the end
    };
    Result<Listed> list(std::string_view fingerprint, const SkillQuery& query);

    static constexpr std::uint32_t kMaxScanned = 20'000;

private:
    Connection& m_connection;
};

} // namespace assay::store
