// SPDX-License-Identifier: Apache-2.0
#include "server/runtime/services.h"

#include "server/audit/ledger.h"
#include "server/http/listen_address.h"

#include <algorithm>
#include <string>

#ifndef ASSAY_VERSION
#define ASSAY_VERSION "unknown"
#endif

namespace assay::runtime {

namespace {

runs::RunSettings runSettings(const Settings& settings, const DataDirectory& directory, Log& log)
{
    runs::RunSettings out;
    out.cacheDirectory = directory.packages();
    out.sessionKeys = directory.keys() / "sessions.json";
    out.maxLiveBoxes = settings.maxLiveBoxes;
    out.maxLiveBoxesPerScope = settings.maxLiveBoxesPerScope;
    out.maxQueued = settings.maxQueuedRuns;
    out.sessionIdle = std::chrono::duration_cast<std::chrono::seconds>(settings.sessionIdle);
    out.cacheBytes = settings.runCacheBytes;
    out.cacheMemoryBytes = settings.runCacheMemoryBytes;
    out.executionEnabled = settings.execution;
    out.boxCeiling = settings.boxCeiling;
    out.commandCeiling = settings.commandCeiling;
    out.maxWaiting = std::max(1U, settings.workerThreads / 2);
    out.report = [&log](std::string_view run, const Error& error) {
        log.write(LogLevel::Error, error.message + (error.detail.empty() ? "" : " [" + error.detail + "]"),
                  {.run = run});
    };
    return out;
}

retention::CollectionSettings collectionSettings(const Settings& settings)
{
    retention::CollectionSettings out;
    out.defaults = settings.retention;
    out.stepTime = settings.collectionStep;
    out.grace = settings.collectionGrace;
    return out;
}

std::string describe(const contract::CollectionReport& report)
{
    std::string out = report.complete ? "collected" : "collected in part";
    for (const contract::CollectedKind& kind : report.kinds) {
        if (kind.count > 0)
            out += ", " + std::to_string(kind.count) + " " + kind.kind + " (" + std::to_string(kind.bytes) + " bytes)";
        if (!kind.problem.empty())
            out += ", " + kind.kind + " failed: " + kind.problem;
    }
    return out;
}

/// What `GET /v1/server` tells: never a path.
contract::ServerInfo serverInfo(const Settings& settings)
{
    contract::ServerInfo info{
        .version = ASSAY_VERSION, .features = {"skills", "agents", "audit"}, .limits = {}, .listeners = {}};
    info.features.push_back("skills_backend:" + settings.skillsBackend);
    if (settings.execution)
        info.features.push_back("runs");
    info.limits = {{"file_bytes", settings.package.fileBytes},
                   {"package_bytes", settings.package.packageBytes},
                   {"package_files", settings.package.files},
                   {"live_boxes", settings.maxLiveBoxes},
                   {"connections", settings.http.connections}};
    for (const std::string& text : settings.listen)
        info.listeners.push_back(text.starts_with("unix:") ? "unix" : text.substr(0, text.find('?')));
    return info;
}

} // namespace

void FailureLog::failed(std::string_view route, const Error& error)
{
    const bool isOurs = traits(error.code).httpStatus >= 500;
    // The message of a caller's own mistake may hold what the caller sent: it is the answer's, not the log's.
    std::string line = "failed, " + std::string(traits(error.code).code);
    if (!error.reason.empty())
        line += ", " + error.reason;
    if (isOurs)
        line += ": " + error.message;
    if (!error.detail.empty())
        line += " [" + error.detail + "]";
    m_log.write(isOurs ? LogLevel::Error : LogLevel::Debug, line, {.route = route});
}

void FailureLog::started(std::string_view run) { m_log.write(LogLevel::Debug, "run started", {.run = run}); }

ServiceSet::ServiceSet(const Settings& settings, const DataDirectory& directory, Log& log, Metrics& metrics,
                       std::unique_ptr<store::Database> database, std::unique_ptr<store::SkillPackageStore> packages,
                       std::unique_ptr<store::SkillPackageStore> artifacts, Stores left,
                       std::unique_ptr<BoxProvider> boxes, audit::SigningKey key, std::unique_ptr<audit::Heads> heads)
    : m_database(std::move(database)),
      m_packages(std::move(packages)),
      m_artifacts(std::move(artifacts)),
      m_left(std::move(left)),
      m_boxes(std::move(boxes)),
      m_ledger(*m_database, m_clock),
      m_refusals(m_ledger, m_clock),
      m_heads(std::move(heads)),
      m_anchorer(*m_database, m_clock, std::move(key), &m_refusals,
                 {.report =
                      [&log](const Error& error) {
                          log.write(LogLevel::Error,
                                    "the audit ledger has no anchor: " + error.message + " [" + error.detail + "]");
                      },
                  .heads = m_heads.get()}),
      m_audit(*m_database, m_anchorer.key().publicKey()),
      m_verifier(*m_database, m_anchorer.key().publicKey(), {.heads = m_heads.get(), .clock = &m_clock}),
      m_storedTokens(*m_database),
      m_authenticator(m_storedTokens, m_clock),
      m_tokens(m_storedTokens, m_authenticator, m_clock),
      m_desk(*m_database, *m_packages, m_clock),
      m_skills(*m_database, *m_packages, m_clock, settings.package, &metrics, m_desk.checks()),
      m_agents(*m_database, m_clock),
      m_runs(*m_database, m_skills, m_agents, *m_artifacts, *m_boxes, m_clock, runSettings(settings, directory, log),
             &metrics),
      m_sampleRuns(m_runs, m_skills, m_desk, m_clock),
      m_trees(m_runs),
      m_collections(*m_database, collectedStores(), &m_trees, m_clock, collectionSettings(settings), &metrics),
      m_parts(*m_database, m_ledger, m_runs, *m_boxes, m_boxes->names(), settings.execution, m_runs.cachePlace(),
              m_heads.get()),
      m_health(m_parts, m_clock),
      m_failures(log),
      m_api(api::makeService({.skills = m_skills,
                              .desk = m_desk,
                              .agents = m_agents,
                              .runs = m_runs,
                              .sampleRuns = m_sampleRuns,
                              .authenticator = m_authenticator,
                              .tokens = m_tokens,
                              .health = m_health,
                              .collections = m_collections,
                              .database = *m_database,
                              .clock = m_clock,
                              .packageLimits = settings.package,
                              .scratchDirectory = directory.scratch(),
                              .bodies = settings.bodies,
                              .info = serverInfo(settings),
                              .log = &m_failures,
                              .metrics = &metrics,
                              .refusals = &m_refusals,
                              .audit = &m_audit,
                              .verifier = &m_verifier}))
{}

Result<std::unique_ptr<ServiceSet>> ServiceSet::open(const Settings& settings, const DataDirectory& directory, Log& log,
                                                     Metrics& metrics)
{
    auto database = store::Database::open({.file = directory.database(), .readers = settings.databaseReaders});
    if (!database)
        return forward(database);
    const store::PackageStoreSettings backend{.backend = settings.skillsBackend,
                                              .filesystemRoot = settings.skillsFilesystemRoot};
    const auto places = store::claimPlace(**database, backend);
    if (!places)
        return std::unexpected(places.error());
    auto packages = store::makePackageStore(backend, **database);
    if (!packages)
        return forward(packages);
    auto artifacts = store::makeArtifactStore(backend, **database);
    if (!artifacts)
        return forward(artifacts);
    auto boxes = BoxProvider::open(settings, directory);
    if (!boxes)
        return forward(boxes);
    auto key = audit::SigningKey::open(directory.keys() / "ledger.ed25519");
    if (!key)
        return forward(key);
    auto heads = audit::Heads::open(directory.keys() / "ledger.heads");
    if (!heads)
        return forward(heads);
    Stores left = openLeft(*places, **database, log);
    std::unique_ptr<ServiceSet> set(new ServiceSet(settings, directory, log, metrics, std::move(*database),
                                                   std::move(*packages), std::move(*artifacts), std::move(left),
                                                   std::move(*boxes), std::move(*key), std::move(*heads)));
    if (auto recovered = set->recover(log); !recovered)
        return forward(recovered);
    set->collectOnSchedule(settings, log);
    return set;
}

/// What it holds is still collected, for a cutover must not keep alive what retention ends.
ServiceSet::Stores ServiceSet::openLeft(const store::StoredPlaces& places, store::Database& database, Log& log)
{
    std::error_code ignored;
    const bool isThere = places.previous && (places.previous->backend != "filesystem" ||
                                             std::filesystem::is_directory(places.previous->filesystemRoot, ignored));
    if (!isThere)
        return {};
    auto packages = store::makePackageStore(*places.previous, database);
    auto artifacts = store::makeArtifactStore(*places.previous, database);
    if (packages && artifacts)
        return {std::move(*packages), std::move(*artifacts)};
    log.write(LogLevel::Warning, "the store that a cutover left cannot be opened, so nothing in it is collected");
    return {};
}

std::vector<retention::CollectedStores> ServiceSet::collectedStores() const
{
    std::vector<retention::CollectedStores> out{{m_packages.get(), m_artifacts.get()}};
    if (m_left.packages)
        out.push_back({m_left.packages.get(), m_left.artifacts.get()});
    return out;
}

/// A collection that found nothing leaves no trace.
void ServiceSet::collected(const Result<contract::CollectionReport>& report, Log& log)
{
    if (!report)
        return log.write(LogLevel::Info, "no collection now: " + report.error().message);
    const bool didSomething = std::ranges::any_of(
        report->kinds, [](const contract::CollectedKind& kind) { return kind.count > 0 || !kind.problem.empty(); });
    if (!didSomething)
        return;
    log.write(LogLevel::Info, describe(*report));
    const auto record = audit::recordByServer("", audit::Operation::CollectionRun, audit::Decision::Executed,
                                              audit::ResourceType::Server, "");
    if (auto recorded = audit::Ledger(*m_database, m_clock).record(record); !recorded)
        log.write(LogLevel::Error, "a collection could not be recorded: " + recorded.error().message);
}

void ServiceSet::collectOnSchedule(const Settings& settings, Log& log)
{
    if (settings.collectionInterval.count() == 0)
        return;
    m_schedule.emplace(m_collections, settings.collectionInterval,
                       [this, &log](const Result<contract::CollectionReport>& report) { collected(report, log); });
}

/// Boxes first: while one of a killed server lives, its run is not over.
Result<void> ServiceSet::recover(Log& log)
{
    auto reaped = m_boxes->reap();
    if (!reaped)
        log.write(LogLevel::Warning, "boxes of an earlier server could not be removed: " + reaped.error().message +
                                         " [" + reaped.error().detail + "]");
    else if (!reaped->empty())
        log.write(LogLevel::Info, "removed " + std::to_string(reaped->size()) + " boxes that a killed server left");
    log.write(LogLevel::Info, m_runs.cachePlace());
    auto unknown = m_ledger.recover();
    if (!unknown)
        return forward(unknown);
    if (*unknown > 0)
        log.write(LogLevel::Warning, "the outcome of " + std::to_string(*unknown) +
                                         " commands is unknown: the server ended while they ran");
    auto interrupted = m_runs.recover();
    if (!interrupted)
        return forward(interrupted);
    if (*interrupted > 0)
        log.write(LogLevel::Info,
                  "marked " + std::to_string(*interrupted) + " runs of an earlier server as interrupted");
    return {};
}

} // namespace assay::runtime
