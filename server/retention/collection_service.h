// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/contract/collection.h"
#include "server/core/metrics.h"
#include "server/retention/retention_policy.h"
#include "server/store/database.h"
#include "server/store/package_store.h"

#include <chrono>
#include <mutex>
#include <stop_token>
#include <vector>

namespace assay::retention {

/// The cached package trees; the runs folder has them. Thread-safe.
class TreeSweeper
{
public:
    virtual ~TreeSweeper() = default;
    /// Removes, or counts, trees that nobody has used for that long.
    virtual store::Removed sweepTrees(std::chrono::milliseconds unusedFor, store::Removal removal) = 0;
};

/// Both stores of one backend. The one that serves comes first; one that a cutover has left may follow.
struct CollectedStores
{
    store::SkillPackageStore* packages = nullptr;
    store::SkillPackageStore* artifacts = nullptr;
};

struct CollectionSettings
{
    RetentionDefaults defaults;
    /// Each kind is worked on for at most so long; the next collection goes on where it was cut.
    std::chrono::milliseconds stepTime{20'000};
    /// A file younger than this is nobody's garbage yet, whatever the rows say.
    std::chrono::milliseconds grace{3'600'000};
    /// A cached tree that no run has used for so long goes.
    std::chrono::milliseconds treeAge{86'400'000};
};

/// Removes what is past its time and what no row names any more (docs/retention.md). Never the bytes of a manifest that
/// is kept, never a publish in flight, and not the ledger. Writes in jobs of a few milliseconds, so that others wait no
/// longer than for each other. Thread-safe; `collect` runs one at a time and blocks.
class CollectionService
{
public:
    /// Everything referred to outlives the service. `trees` and `metrics` may be null.
    CollectionService(store::Database& database, std::vector<CollectedStores> stores, TreeSweeper* trees,
                      const Clock& clock, CollectionSettings settings, Metrics* metrics = nullptr);

    /// Removes, or with `CountOnly` says what it would remove and changes nothing. `Conflict` while another one runs.
    /// Ends early, with what was done, once `stop` is requested or `stop()` was called.
    Result<contract::CollectionReport> collect(store::Removal removal, std::stop_token stop = {});
    /// Ends the collection that runs, if any, within a write job, and every later one at once. Does not wait.
    void stop() { m_stop.request_stop(); }

private:
    store::Database& m_database;
    const std::vector<CollectedStores> m_stores;
    TreeSweeper* m_trees;
    const Clock& m_clock;
    const CollectionSettings m_settings;
    Metrics* m_metrics;
    std::stop_source m_stop;
    std::mutex m_turn;
};

} // namespace assay::retention
