// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/metrics.h"
#include "server/runs/collector.h"
#include "server/runs/execution_broker.h"
#include "server/runs/live_box.h"
#include "server/runs/live_run.h"
#include "server/runs/materializer.h"
#include "server/runs/output_check.h"
#include "server/runs/run_journal.h"
#include "server/runs/run_service.h"

#include <atomic>
#include <memory>
#include <optional>

namespace assay::runs {

/// What every execution uses; outlives them all.
struct ExecutionParts
{
    Materializer& materializer;
    Collector& collector;
    RunJournal& journal;
    ExecutionBroker& broker;
    BoxMaker makeBox;
    OperatorReport report;
    std::chrono::milliseconds sessionIdle{900'000};
    Metrics* metrics = nullptr;                      ///< may be absent
    SchemaCheck checkSchema;                         ///< for the output of scripts that declare a schema; may be absent
    const std::atomic<bool>* stopping = nullptr;     ///< the server ends; may be absent
    std::chrono::milliseconds storePatience{30'000}; ///< how long an end that cannot be stored is tried again
};

/// Drives one pinned run to its end on the calling thread: provision, materialize and verify, run, collect, destroy,
/// store. Executes nothing unless the box was seen to hold exactly the manifest's packages. Used once.
class RunExecution
{
public:
    RunExecution(ExecutionParts& parts, sandbox::BoxDriver& driver, LiveRun& run)
        : m_parts(parts), m_driver(&driver), m_run(run)
    {}
    /// Only for `abandon`, which needs no driver.
    RunExecution(ExecutionParts& parts, LiveRun& run) : m_parts(parts), m_run(run) {}

    void execute();
    /// Ends a run that never gets a box.
    void abandon(const RunOutcome& outcome);

private:
    Result<void> prepare();
    Result<void> bindPackages();
    Result<void> provision();
    Result<void> verify();
    Result<void> placeFiles();
    void addFirstCommand();
    RunOutcome runCommands();
    RunOutcome runOne(const LiveRun::Work& work);
    void checkFirstOutput(const sandbox::CommandResult& result);
    RunOutcome dispatch(const LiveRun::Work& work, const ExecutionSession& session);
    RunOutcome notStarted(const LiveRun::Work& work, const Error& why);
    void addEnding(const LiveRun::Work& work, audit::Record record);
    void refuseUnstarted(const RunOutcome& outcome);
    std::optional<RunOutcome> whileIdle(LiveRun::Deadline idleEnd);
    void storeCommands();
    void measure();
    void collect(RunOutcome& outcome);
    void failWith(const Error& error);
    void finish(RunOutcome outcome);
    void store(RunOutcome& outcome);
    Result<void> storeEnd(const RunOutcome& outcome);
    std::chrono::milliseconds storePatience() const;
    void destroyBox();
    RunOutcome cancelledOutcome() const;
    RunOutcome outcomeOf(const Error& error) const;
    void report(const Error& error) const;
    void add(Count what, std::uint64_t by = 1) const;

    ExecutionParts& m_parts;
    sandbox::BoxDriver* m_driver = nullptr;
    LiveRun& m_run;
    std::optional<Materializer::Trees> m_trees;
    std::unique_ptr<LiveBox> m_box;
    Collector::Holds m_holds;             ///< of artifacts' bytes, until their rows are stored
    std::vector<CommandEnding> m_endings; ///< of commands, not written yet
    std::uint64_t m_wallMs = 0;           ///< of all commands
    bool m_firstEnded = false;            ///< the planned command, whose output may have a schema
};

} // namespace assay::runs
