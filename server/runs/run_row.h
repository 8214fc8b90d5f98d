// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/contract/run.h"
#include "server/runs/run_plan.h"
#include "server/store/run_table.h"

namespace assay::runs {

/// The stored form of a run's parts, and back (docs/runs.md, "What is stored"). Reading is lenient: a part that cannot
/// be read is left out, for one bad row must not hide a run. Pure.
store::RunRow planRow(const RunPlan& plan, std::string_view creator);
store::RunProgress progressOf(const contract::Run& run);
contract::Run runOf(std::string_view fingerprint, const store::RunRow& row);

} // namespace assay::runs
