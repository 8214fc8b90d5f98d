// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/clock.h"
#include "server/core/digest.h"
#include "server/store/connection.h"

#include <vector>

namespace assay::store {

/// A pinned skill of a run; the rows also keep its bundle from the collector (R15).
struct RunSkillRow
{
    std::string name;
    std::string revision;
    std::uint64_t number = 0;
    Digest digest;
};

/// What is fixed when a run is written. `manifest` may be empty (a run that was refused before it was pinned).
struct RunRow
{
    std::string id; ///< "run_..."
    std::string state;
    std::string agent; ///< empty for a run by skills
    std::string agentRevision;
    std::string subagent; ///< empty: the agent as a whole
    bool session = false;
    std::string driver;
    std::string baseDigest;
    std::string manifest; ///< canonical JSON; not filled by `list`
    std::string manifestDigest;
    std::vector<RunSkillRow> skills;
    std::string phases;          ///< JSON of the runs folder's own form; empty until told
    std::string usage;           ///< likewise
    std::string rejectedOutputs; ///< likewise
    std::string outputCheck;     ///< likewise; empty when there was nothing to check
    std::string termination;
    std::string reason;
    std::string message;
    std::string creator; ///< the principal
    Timestamp createdAt;
    std::optional<Timestamp> endedAt;
};

/// What may change while a run goes on; replaces all these members at once.
struct RunProgress
{
    std::string state;
    std::string phases;
    std::string usage;
    std::string rejectedOutputs;
    std::string outputCheck;
    std::string termination;
    std::string reason;
    std::string message;
    std::optional<Timestamp> endedAt;
};

struct RunQuery
{
    std::string state; ///< empty members do not filter
    std::string agent;
    std::string skill;
    std::optional<Timestamp> since; ///< created at or after
    std::string beforeId;           ///< keyset: only ids below; empty for the newest page
    std::uint32_t limit = 50;
};

struct RunKey
{
    std::string fingerprint;
    std::string id;
};

/// The SQL of the tables `runs` and `run_skills`, one exact scope at a time. Confined to its connection.
class RunTable
{
public:
    explicit RunTable(Connection& connection) : m_connection(connection) {}

    Result<void> insert(std::string_view fingerprint, const RunRow& row);
    /// Replaces the manifest, its digest and the pinned skills of a run that was written without. `NotFound` without
    /// the run.
    Result<void> pin(std::string_view fingerprint, std::string_view id, std::string_view manifest,
                     std::string_view manifestDigest, const std::vector<RunSkillRow>& skills);
    /// `NotFound` without the run.
    Result<void> update(std::string_view fingerprint, std::string_view id, const RunProgress& progress);
    Result<std::optional<RunRow>> find(std::string_view fingerprint, std::string_view id);
    /// Newest first (descending ids). A filter looks at a bounded number of rows (`kMaxScanned`): `more` then says
    /// where to go on, also when `rows` is short.
    struct Listed
    {
        std::vector<RunRow> rows;
        std::optional<std::string> more; ///< the next query's `beforeId`; empty at the end
    };
    Result<Listed> list(std::string_view fingerprint, const RunQuery& query);

    /// Runs of every scope that have not ended: only for the recovery at start.
    Result<std::vector<RunKey>> unfinished(std::uint32_t limit);
    /// Ends all of these at once: state `failed`, reason `interrupted`. The number of runs.
    Result<std::int64_t> interruptUnfinished(Timestamp now, std::string_view message);

    static constexpr std::uint32_t kMaxScanned = 20'000;

private:
    Result<void> insertSkills(std::string_view fingerprint, std::string_view id,
                              const std::vector<RunSkillRow>& skills);
    Result<std::vector<RunSkillRow>> skillsOf(std::string_view fingerprint, std::string_view id);
    Result<bool> usesSkill(std::string_view fingerprint, std::string_view id, std::string_view skill);

    Connection& m_connection;
};

} // namespace assay::store
