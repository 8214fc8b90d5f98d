// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/auth/identity.h"
#include "server/contract/run.h"
#include "server/core/clock.h"
#include "server/core/metrics.h"
#include "server/registry/agent_service.h"
#include "server/registry/skill_service.h"
#include "server/sandbox/box.h"

#include <functional>
#include <memory>

namespace assay::runs {

/// Where a failure goes that no caller waits for (R14): a teardown that left something, results that could not be
/// stored. Any thread; must not block for long. `run` is the run's id.
using OperatorReport = std::function<void(std::string_view run, const Error& error)>;

/// The operator's settings for runs.
struct RunSettings
{
    std::filesystem::path cacheDirectory; ///< where verified package trees are kept for boxes
    unsigned maxLiveBoxes = 16;           ///< on this server
    unsigned maxLiveBoxesPerScope = 16;
    unsigned maxQueued = 256;  ///< waiting runs; more are refused with `queue_full`
    unsigned maxWaiting = 128; ///< callers that wait for a run or command; others get it as it is, at once
    std::chrono::seconds sessionIdle{900};
    std::uint64_t cacheBytes = 2ULL << 30;         ///< on disk
    std::uint64_t cacheMemoryBytes = 512ULL << 20; ///< in memory, and at most a quarter of the machine's
    sandbox::BoxLimits boxCeiling;                 ///< a run's limits are never above
    sandbox::CommandLimits commandCeiling;         ///< likewise
    std::filesystem::path sessionKeys;   ///< the file of the keys that seal execution sessions; empty: in memory
    std::filesystem::path schemaChecker; ///< the program assay-schema-check; empty: beside the running program
    OperatorReport report;               ///< may be empty
    bool executionEnabled = true;        ///< placement `disabled` refuses every run (E8)
};

/// Which drivers and base there are; plugged in by the composition root.
class BoxProvider
{
public:
    virtual ~BoxProvider() = default;
    /// The driver of that name, or the default for an empty name. `Refused` with `driver_unavailable`.
    virtual Result<sandbox::BoxDriver*> driver(std::string_view name) = 0;
    virtual sandbox::BaseRoot base() = 0;
};

/// A live or stored event of a run (api.md, "Runs"): `id` counts from 1 within the run.
struct RunEvent
{
    std::uint64_t id = 0;
    std::string type; ///< "phase", "output", "usage", "command", "end", ...
    std::string data; ///< one line of JSON
};

/// Reads a run's events in order, from the first or after `lastId`, and waits for more. See api::EventSource, which an
/// adapter makes of it.
class EventCursor
{
public:
    virtual ~EventCursor() = default;
    struct Batch
    {
        std::vector<RunEvent> events;
        bool ended = false;
    };
    virtual Batch read(std::size_t maxEvents) = 0;
    virtual void onReady(std::function<void()> notify) = 0;
};

/// Starts, drives and reads runs: resolve, pin, provision, materialize, execute, collect, destroy (architecture.md, "A
/// run"). Thread-safe; calls block only as long as they say.
class RunService
{
public:
    RunService(store::Database& database, registry::SkillService& skills, registry::AgentService& agents,
               store::SkillPackageStore& artifacts, BoxProvider& boxes, const Clock& clock, RunSettings settings,
               Metrics* metrics = nullptr);
    ~RunService();

    /// Marks the runs that a killed server left as `failed`, `interrupted`. Called once, before `start`, and after the
    /// drivers have reaped: while a box lives its run is not over. The number of those runs.
    Result<std::uint64_t> recover();
    /// Refuses new runs, cancels live ones and waits for all boxes to end, at most `deadline`.
    void stop(std::chrono::milliseconds deadline);

    /// Writes the run and its manifest, then queues it. Returns at once, or after the end with `waitMs`. A refused run
    /// is stored and listed; the error is `Refused` with its reason and the run's id in the message's problem pointer.
    Result<contract::Run> start(const auth::Identity& by, contract::StartRun request);
    Result<contract::Page<contract::Run>> list(const auth::Identity& by, const contract::RunFilter& filter,
                                               const contract::PageRequest& page);
    Result<contract::Run> find(const auth::Identity& by, std::string_view id);
    struct Manifest
    {
        std::string canonicalJson;
        std::string digest;
    };
    Result<Manifest> manifest(const auth::Identity& by, std::string_view id);
    Result<contract::CommandResult> startCommand(const auth::Identity& by, std::string_view id,
                                                 contract::StartCommand request);
    Result<contract::CommandResult> command(const auth::Identity& by, std::string_view id, std::string_view command);
    Result<std::unique_ptr<EventCursor>> events(const auth::Identity& by, std::string_view id, std::uint64_t lastId);
    Result<contract::Run> cancel(const auth::Identity& by, std::string_view id);
    Result<contract::Run> finish(const auth::Identity& by, std::string_view id);

    /// Which runs an emergency stop ends: those that pin the revision in the scope, or the digest in every scope.
    struct Stopped
    {
        std::string scopeFingerprint; ///< empty: every scope
        std::string revision;         ///< empty: any of `digest`
        std::string digest;
    };
    /// Cancels them, waiting ones too, with reason `revision_stopped`, and waits for their ends up to 5 s; their
    /// number. Call it after the withdrawal or stop is durable: then no run slips by, for each is registered before it
    /// is written, and written only when its revisions may still run.
    std::uint64_t stopPinned(const Stopped& stopped);

    /// The pinned, read-only view (R9).
    Result<std::vector<contract::RevisionFile>> skillFiles(const auth::Identity& by, std::string_view id,
                                                           std::string_view skill);
    Result<registry::SkillService::FileContent> skillFile(const auth::Identity& by, std::string_view id,
                                                          std::string_view skill, std::string_view path);

    Result<contract::Page<contract::Artifact>> artifacts(const auth::Identity& by, std::string_view id,
                                                         const contract::PageRequest& page);
    Result<contract::Artifact> artifact(const auth::Identity& by, std::string_view artifactId);
    struct ArtifactContent
    {
        contract::Artifact artifact;
        store::Bundle bytes;
    };
    Result<ArtifactContent> artifactContent(const auth::Identity& by, std::string_view artifactId);

    /// Proves that the driver of that name works (ReadinessProbe), and records it: asked for by `by`, or by nobody.
    /// What to tell people. Never a matter of settings.
    Result<std::string> prove(const std::string& driver);

    /// Runs that hold a box, and runs that wait for one.
    struct Load
    {
        unsigned live = 0;
        unsigned queued = 0;
    };
    Load load() const;

    /// Removes, or counts, cached package trees that no run has used for so long.
    store::Removed sweepTrees(std::chrono::milliseconds unusedFor, store::Removal removal);

    /// Where packages for boxes are kept, in a sentence for the operator; no path.
    std::string cachePlace() const;

private:
    struct State;
    std::unique_ptr<State> m_state;
};

} // namespace assay::runs
