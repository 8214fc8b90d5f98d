// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/runs/execution_broker.h"
#include "server/runs/live_runs.h"
#include "server/runs/readiness_probe.h"
#include "server/runs/registry_catalog.h"
#include "server/runs/resolver.h"
#include "server/runs/run_execution.h"
#include "server/runs/run_records.h"
#include "server/runs/run_service.h"
#include "server/runs/scheduler.h"
#include "server/runs/wait_places.h"

namespace assay::runs {

/// The parts of the service, in the order of their making; the scheduler is last, so its threads are joined first.
struct RunService::State
{
    State(store::Database& database, registry::SkillService& skillService, registry::AgentService& agentService,
          store::SkillPackageStore& artifactStore, BoxProvider& provider, const Clock& time, RunSettings options,
          Metrics* metrics);

    /// Resolves a request into a plan with an id, driver and base; see RunService::start for errors.
    Result<void> plan(const auth::Identity& by, const contract::StartRun& request, RunPlan& plan,
                      sandbox::BoxDriver*& driver);
    Result<std::shared_ptr<LiveRun>> accept(const auth::Identity& by, RunPlan plan, sandbox::BoxDriver& driver);
    std::unexpected<Error> refuseRun(const auth::Identity& by, const RunPlan& plan, Error why);
    void execute(const std::shared_ptr<LiveRun>& run, sandbox::BoxDriver& driver);
    /// Reserves a session's command in the ledger and queues it; its id.
    Result<std::string> reserveAndQueue(const auth::Identity& by, LiveRun& run, sandbox::Command command);
    /// Waits for a run's end where a caller may wait; false at the deadline, or when too many wait already.
    bool waitEnded(LiveRun& run, std::chrono::milliseconds most);
    /// Ends a run that waits for a box; false when it has started.
    bool endWaiting(LiveRun& run);

    /// The live run, or null; and a stored run's row, `NotFound` when the scope has none.
    std::shared_ptr<LiveRun> live(const auth::Identity& by, std::string_view id) const;
    Result<store::RunRow> storedRow(const auth::Identity& by, std::string_view id);
    Result<contract::Run> storedRun(const auth::Identity& by, std::string_view id);
    Result<ManifestSkill> pinnedSkill(const auth::Identity& by, std::string_view id, std::string_view skill);

    const Clock& clock;
    const RunSettings settings;
    registry::SkillService& skills;
    store::SkillPackageStore& artifacts;
    BoxProvider& boxes;
    RegistryCatalog catalog;
    Resolver resolver;
    RunRecords records;
    Result<std::unique_ptr<SessionSealer>> sealer;
    std::unique_ptr<ExecutionBroker> broker; ///< null when sessions cannot be sealed: then nothing is executed
    Result<std::unique_ptr<TreeCache>> cache;
    std::unique_ptr<Materializer> materializer; ///< null when the cache could not be opened
    Collector collector;
    std::unique_ptr<ExecutionParts> parts;
    LiveRuns liveRuns;
    WaitPlaces waitPlaces;
    std::atomic<bool> stopping{false};
    Scheduler scheduler;
};

/// The answer for a run that was refused and is on record: `why`, with where the run is found.
std::unexpected<Error> refusedRun(Error why, std::string_view run);

/// What every look-up of a run answers that finds none, whoever's it is.
std::unexpected<Error> noSuchRun();

} // namespace assay::runs
