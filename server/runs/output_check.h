// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/contract/run.h"
#include "server/runs/run_plan.h"
#include "server/runs/schema_checker.h"

namespace assay::runs {

/// Checks the standard output of a script that ended, whole and as JSON, against its schema (docs/runs.md, "Schemas").
/// Never fails: what cannot be checked is told as such. Blocks as long as `check` does.
contract::OutputCheck checkOutput(const SchemaCheck& check, const PlannedSchema& schema,
                                  const sandbox::CommandResult& result);

} // namespace assay::runs
