// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/api/health_monitor.h"
#include "server/api/server_parts.h"
#include "server/api/service.h"
#include "server/api/stored_tokens.h"
#include "server/audit/anchorer.h"
#include "server/core/metrics.h"
#include "server/retention/collection_schedule.h"
#include "server/runtime/box_provider.h"
#include "server/runtime/log.h"
#include "server/store/active_store.h"

#include <chrono>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace assay::runtime {

/// Writes failures that clients saw into the log, with what only the operator may know.
class FailureLog final : public api::FailureLog
{
public:
    explicit FailureLog(Log& log) : m_log(log) {}
    void failed(std::string_view route, const Error& error) override;
    void started(std::string_view run) override;

private:
    Log& m_log;
};

/// The runs' cached trees, for the collector.
class RunTrees final : public retention::TreeSweeper
{
public:
    explicit RunTrees(runs::RunService& runs) : m_runs(runs) {}
    store::Removed sweepTrees(std::chrono::milliseconds unusedFor, store::Removal removal) override
    {
        return m_runs.sweepTrees(unusedFor, removal);
    }

private:
    runs::RunService& m_runs;
};

/// Everything below the HTTP server, made in the order of its needs and ended in the opposite one. `open` and `stop`
/// from one thread; `api()` is thread-safe.
class ServiceSet
{
public:
    /// Opens the database, recovers what a killed server left, and makes the services.
    static Result<std::unique_ptr<ServiceSet>> open(const Settings& settings, const DataDirectory& directory, Log& log,
                                                    Metrics& metrics);

    api::Service& api() { return *m_api; }
    api::HealthMonitor& health() { return m_health; }
    runs::RunService::Load load() const { return m_runs.load(); }
    /// Refuses new runs, cancels live ones and waits for their boxes, at most `deadline`.
    void stop(std::chrono::milliseconds deadline)
    {
        m_collections.stop();
        m_runs.stop(deadline);
    }

private:
    /// Both stores of the place that an unfinished cutover has left; null when there is none.
    struct Stores
    {
        std::unique_ptr<store::SkillPackageStore> packages;
        std::unique_ptr<store::SkillPackageStore> artifacts;
    };
    static Stores openLeft(const store::StoredPlaces& places, store::Database& database, Log& log);
    std::vector<retention::CollectedStores> collectedStores() const;
    ServiceSet(const Settings& settings, const DataDirectory& directory, Log& log, Metrics& metrics,
               std::unique_ptr<store::Database> database, std::unique_ptr<store::SkillPackageStore> packages,
               std::unique_ptr<store::SkillPackageStore> artifacts, Stores left, std::unique_ptr<BoxProvider> boxes,
               audit::SigningKey key, std::unique_ptr<audit::Heads> heads);
    Result<void> recover(Log& log);
    void collectOnSchedule(const Settings& settings, Log& log);
    void collected(const Result<contract::CollectionReport>& report, Log& log);

    SystemClock m_clock;
    std::unique_ptr<store::Database> m_database;
    std::unique_ptr<store::SkillPackageStore> m_packages;
    std::unique_ptr<store::SkillPackageStore> m_artifacts;
    Stores m_left;
    std::unique_ptr<BoxProvider> m_boxes;
    audit::Ledger m_ledger;
    audit::Refusals m_refusals;
    std::unique_ptr<audit::Heads> m_heads;
    audit::Anchorer m_anchorer; ///< ends before the refusals, whose last counts it writes and signs
    audit::Reader m_audit;
    audit::Verifier m_verifier;
    api::StoredTokens m_storedTokens;
    auth::Authenticator m_authenticator;
    auth::TokenService m_tokens;
    review::Desk m_desk;
    registry::SkillService m_skills;
    registry::AgentService m_agents;
    runs::RunService m_runs;
    runs::SampleRuns m_sampleRuns;
    RunTrees m_trees;
    retention::CollectionService m_collections;
    api::ServerParts m_parts;
    api::HealthMonitor m_health;
    FailureLog m_failures;
    std::unique_ptr<api::Service> m_api;
    std::optional<retention::CollectionSchedule> m_schedule; ///< last: ends before what it uses
};

} // namespace assay::runtime
