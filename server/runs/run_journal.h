// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/audit/record.h"
#include "server/runs/live_run.h"

#include <string_view>
#include <vector>

namespace assay::runs {

/// How a reserved command ended, for the ledger.
struct CommandEnding
{
    std::int64_t reservation = 0;
    audit::Record record;
};

/// Where an execution writes what is to outlive it; RunRecords is the real one. Thread-safe; calls block until durable.
class RunJournal
{
public:
    virtual ~RunJournal() = default;
    /// Commands of a session that ended.
    virtual Result<void> putCommands(const RunPlan& plan, const std::vector<store::CommandRow>& rows) = 0;
    /// The end of a run: progress, commands, artifacts, events and the ends of its commands in one transaction.
    virtual Result<void> end(const LiveRun& run, const std::vector<store::CommandRow>& commands,
                             const std::vector<store::ArtifactRow>& artifacts, std::string_view events,
                             const std::vector<CommandEnding>& endings) = 0;
    /// The ends of a session's commands.
    virtual Result<void> complete(const std::vector<CommandEnding>& endings) = 0;
    /// A refusal, for the ledger.
    virtual Result<void> note(const audit::Record& record) = 0;
};

} // namespace assay::runs
