// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/clock.h"
#include "server/store/connection.h"
#include "server/store/package_store.h"

#include <vector>

namespace assay::store {

/// What ended, was made or was withdrawn before these times is expired. `Timestamp::min()`: nothing is.
struct Cutoffs
{
    Timestamp runs = Timestamp::min();      ///< by the end of the run
    Timestamp artifacts = Timestamp::min(); ///< by when it was collected
    Timestamp revisions = Timestamp::min(); ///< by when it was withdrawn, or its skill deleted
};

/// A row that is expired, and from where a listing goes on.
struct ExpiredRow
{
    std::string key; ///< a run's, artifact's or revision's id, a skill's name
    Timestamp at;    ///< of runs and artifacts: what they expired by
    std::uint64_t bytes = 0;
};

/// What became of a row that was to be removed.
enum class RowRemoval : std::uint8_t {
    Gone,
    Kept,   ///< it is not expired any more, is referenced, or was not there
    Partly, ///< a bounded part of it went; ask again
};

/// The SQL by which the collector finds and removes what is past its time (docs/retention.md), one exact scope at a
/// time, over the tables of runs, artifacts, revisions and skills. A removal checks again, so that what is referenced
/// or not expired any more stays. Confined to its connection; removals run in a write job.
class ExpiredRows
{
public:
    explicit ExpiredRows(Connection& connection) : m_connection(connection) {}

    /// The next scope, in the order of fingerprints, that has a run, an artifact, a skill or its own retention.
    Result<std::optional<std::string>> nextScope(std::string_view afterFingerprint);

    // Each lists at most `limit`, after `after` (null: from the first); runs and artifacts by age, the others by key.
    Result<std::vector<ExpiredRow>> runs(std::string_view fingerprint, Timestamp before, const ExpiredRow* after,
                                         std::uint32_t limit);
    Result<std::vector<ExpiredRow>> artifacts(std::string_view fingerprint, Timestamp before, const ExpiredRow* after,
                                              std::uint32_t limit);
    /// Withdrawn ones that are not what their skill shows, and all of a deleted skill, unless the manifest of a run
    /// that is not expired pins their bytes.
    Result<std::vector<ExpiredRow>> revisions(std::string_view fingerprint, const Cutoffs& cutoffs,
                                              const ExpiredRow* after, std::uint32_t limit);
    /// Deleted skills of which no revision stays.
    Result<std::vector<ExpiredRow>> skills(std::string_view fingerprint, const Cutoffs& cutoffs,
                                           const ExpiredRow* after, std::uint32_t limit);

    // A run and a skill: a part that is bounded in rows and bytes at a time, their own row last.
    Result<RowRemoval> removeRun(std::string_view fingerprint, std::string_view id, Timestamp before);
    Result<RowRemoval> removeArtifact(std::string_view fingerprint, std::string_view id, Timestamp before);
    Result<RowRemoval> removeRevision(std::string_view fingerprint, std::string_view id, Timestamp before);
    Result<RowRemoval> removeSkill(std::string_view fingerprint, std::string_view name, Timestamp before);

private:
    Result<bool> removeCommands(std::string_view fingerprint, std::string_view run);
    Result<void> removeRunRows(std::string_view fingerprint, std::string_view run);
    Result<bool> removeReviewRows(std::string_view fingerprint, std::string_view skill);
    Result<RowRemoval> judged(Result<void> done) const;

    Connection& m_connection;
};

} // namespace assay::store
