// SPDX-License-Identifier: Apache-2.0
#include "server/runs/run_service_state.h"

#include "server/core/ids.h"

#include <format>

namespace assay::runs {

std::unexpected<Error> refusedRun(Error why, std::string_view run)
{
    why.problems.push_back(
        {.code = why.reason, .message = "the refused run", .path = {}, .pointer = "/v1/runs/" + std::string(run)});
    return std::unexpected(std::move(why));
}

std::unexpected<Error> noSuchRun() { return fail(ErrorCode::NotFound, "there is no run of this id"); }

namespace {

SchemaCheck checkerOf(const RunSettings& settings)
{
    return makeSchemaCheck(settings.schemaChecker.empty() ? defaultSchemaChecker() : settings.schemaChecker);
}

} // namespace

RunService::State::State(store::Database& database, registry::SkillService& skillService,
                         registry::AgentService& agentService, store::SkillPackageStore& artifactStore,
                         BoxProvider& provider, const Clock& time, RunSettings options, Metrics* metrics)
    : clock(time),
      settings(std::move(options)),
      skills(skillService),
      artifacts(artifactStore),
      boxes(provider),
      catalog(skillService, agentService),
      resolver(catalog, {.box = settings.boxCeiling, .command = settings.commandCeiling}, checkerOf(settings)),
      records(database, time),
      sealer(SessionSealer::open(settings.sessionKeys, time)),
      cache(TreeCache::open({.directory = settings.cacheDirectory,
                             .diskBytes = settings.cacheBytes,
                             .memoryBytes = settings.cacheMemoryBytes})),
      collector(artifactStore, time),
      waitPlaces(settings.maxWaiting),
      scheduler({.maxLive = settings.maxLiveBoxes,
                 .maxLivePerScope = settings.maxLiveBoxesPerScope,
                 .maxQueued = settings.maxQueued})
{
    if (sealer)
        broker = std::make_unique<ExecutionBroker>(**sealer, records);
    if (!cache || !broker)
        return;
    materializer = std::make_unique<Materializer>(catalog, **cache);
    parts = std::make_unique<ExecutionParts>(*materializer, collector, records, *broker, makeLiveBox, settings.report,
                                             settings.sessionIdle, metrics, checkerOf(settings), &stopping);
}

Result<void> RunService::State::plan(const auth::Identity& by, const contract::StartRun& request, RunPlan& plan,
                                     sandbox::BoxDriver*& driver)
{
    plan.runId = newId("run_", clock.now());
    plan.scopeFingerprint = by.scopeFingerprint;
    plan.createdAt = clock.now();
    plan.startedBy = by;
    plan.storeIdentity = skills.storeIdentity();
    plan.base = boxes.base();
    if (auto resolved = resolver.resolve(by, request, plan); !resolved)
        return resolved;
    if (!settings.executionEnabled)
        return refuse("policy_denied", "execution is disabled on this server; an operator can enable it");
    auto found = boxes.driver(request.driver);
    if (!found)
        return forward(found);
    driver = *found;
    plan.driver = driver->name();
    if (!broker)
        return refuse("policy_denied", "this server cannot seal execution sessions: " + sealer.error().message,
                      sealer.error().detail);
    if (!parts)
        return refuse("materialization_failed", "this server cannot keep packages for boxes: " + cache.error().message,
                      cache.error().detail);
    if (scheduler.isFull())
        return refuse("queue_full", std::format("{} runs wait for a box, and no more may; try again when some have "
                                                "ended",
                                                settings.maxQueued));
    return {};
}

std::unexpected<Error> RunService::State::refuseRun(const auth::Identity& by, const RunPlan& plan, Error why)
{
    if (auto stored = records.refused(plan, why, by, clock.now()); !stored)
        return std::unexpected(std::move(stored).error());
    return refusedRun(std::move(why), plan.runId);
}

Result<std::shared_ptr<LiveRun>> RunService::State::accept(const auth::Identity& by, RunPlan plan,
                                                           sandbox::BoxDriver& driver)
{
    const auto manifest = writeManifest(plan);
    if (plan.command) {
        plan.command->id = newId("cmd_", clock.now());
        auto carrier = broker->sealFor(by, plan.runId);
        if (!carrier)
            return forward(carrier);
        plan.command->carrier = std::move(*carrier);
    }
    const auto run = std::make_shared<LiveRun>(std::move(plan), manifest.digest.text(), clock);
    liveRuns.add(run);
    auto reservation = records.begin(*run, manifest.canonicalJson, by);
    if (!reservation) {
        // Whoever has found it among the live ones, and waits for its end, waits no longer.
        run->conclude({.state = "refused", .termination = {}, .reason = reservation.error().reason, .message = {}});
        run->publishEnd();
        liveRuns.remove(*run);
        if (reservation.error().code == ErrorCode::Refused)
            return refuseRun(by, run->plan(), std::move(reservation).error());
        return forward(reservation);
    }
    run->reserveFirst(*reservation);
    auto ticket = scheduler.submit(by.scopeFingerprint, [this, run, chosen = &driver] { execute(run, *chosen); });
    if (ticket) {
        liveRuns.setTicket(*run, *ticket);
        return run;
    }
    // The queue filled since it was looked at, or the server stops: the run is on record already, so it ends there.
    const bool refused = ticket.error().code == ErrorCode::Refused;
    RunExecution(*parts, *run)
        .abandon({.state = refused ? "refused" : "cancelled",
                  .termination = refused ? "" : "cancelled",
                  .reason = refused ? ticket.error().reason : "server_stopping",
                  .message = ticket.error().message});
    liveRuns.remove(*run);
    if (refused)
        return refusedRun(std::move(ticket).error(), run->plan().runId);
    return forward(ticket);
}

void RunService::State::execute(const std::shared_ptr<LiveRun>& run, sandbox::BoxDriver& driver)
{
    RunExecution(*parts, driver, *run).execute();
    liveRuns.remove(*run);
}

bool RunService::State::waitEnded(LiveRun& run, std::chrono::milliseconds most)
{
    const WaitPlaces::Place place(waitPlaces);
    return run.waitEnded(std::chrono::steady_clock::now() + (place ? most : std::chrono::milliseconds(0)));
}

bool RunService::State::endWaiting(LiveRun& run)
{
    const auto ticket = liveRuns.ticket(run);
    if (ticket == 0 || !scheduler.withdraw(run.plan().scopeFingerprint, ticket))
        return false;
    RunExecution(*parts, run)
        .abandon({.state = "cancelled",
                  .termination = "cancelled",
                  .reason = run.cancelReason(),
                  .message = cancelMessage(run.cancelReason()) + ", before it had a box"});
    liveRuns.remove(run);
    return true;
}

std::shared_ptr<LiveRun> RunService::State::live(const auth::Identity& by, std::string_view id) const
{
    return liveRuns.find(by.scopeFingerprint, id);
}

Result<store::RunRow> RunService::State::storedRow(const auth::Identity& by, std::string_view id)
{
    if (!isId(id, "run_"))
        return noSuchRun();
    auto row = records.row(by.scopeFingerprint, id);
    if (!row)
        return forward(row);
    if (!*row)
        return noSuchRun();
    return std::move(**row);
}

Result<contract::Run> RunService::State::storedRun(const auth::Identity& by, std::string_view id)
{
    if (!isId(id, "run_"))
        return noSuchRun();
    auto run = records.find(by.scopeFingerprint, id);
    if (!run)
        return forward(run);
    if (!*run)
        return noSuchRun();
    return std::move(**run);
}

Result<ManifestSkill> RunService::State::pinnedSkill(const auth::Identity& by, std::string_view id,
                                                     std::string_view skill)
{
    auto row = storedRow(by, id);
    if (!row)
        return forward(row);
    if (row->manifest.empty())
        return fail(ErrorCode::NotFound, "this run pins no skill of this name");
    auto pinned = manifestSkills(row->manifest);
    if (!pinned)
        return forward(pinned);
    for (auto& each : *pinned)
        if (each.name == skill)
            return std::move(each);
    return fail(ErrorCode::NotFound, "this run pins no skill of this name");
}

} // namespace assay::runs
