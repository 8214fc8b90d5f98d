// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/audit/record.h"
#include "server/runs/run_plan.h"
#include "server/sandbox/box.h"

namespace assay::runs {

// What the ledger is told of runs and their commands: never an argument, an input or an output.

audit::Record runRecord(const auth::Identity& by, audit::Operation operation, audit::Decision decision,
                        const RunPlan& plan);

/// The server's own decision to end a run of which a revision was stopped.
audit::Record stoppedRecord(const RunPlan& plan);

/// The reservation of a command, and the ground of the record of its end; by the server when `by` is nobody.
audit::Record commandRecord(const auth::Identity& by, const RunPlan& plan, const std::string& command,
                            std::string_view cwd);

/// `record` of a command that ran: `executed` when it ended by itself, else `terminated`.
audit::Record endedRecord(audit::Record record, const sandbox::CommandResult& result);

/// `record` of a command of which nothing ran.
audit::Record refusedRecord(audit::Record record, std::string_view reason);

} // namespace assay::runs
