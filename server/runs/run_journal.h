// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/runs/live_run.h"

#include <string_view>
#include <vector>

namespace assay::runs {

/// Where an execution writes what is to outlive it; RunRecords is the real one. Thread-safe; calls block until durable.
class RunJournal
{
public:
    virtual ~RunJournal() = default;
    /// Commands of a session that ended.
    virtual Result<void> putCommands(const RunPlan& plan, const std::vector<store::CommandRow>& rows) = 0;
    /// The end of a run: progress, commands, artifacts and events in one transaction.
    virtual Result<void> end(const LiveRun& run, const std::vector<store::CommandRow>& commands,
                             const std::vector<store::ArtifactRow>& artifacts, std::string_view events) = 0;
};

} // namespace assay::runs
