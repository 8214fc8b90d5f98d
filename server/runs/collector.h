// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/clock.h"
#include "server/runs/live_box.h"
#include "server/runs/live_run.h"
#include "server/store/package_store.h"

namespace assay::runs {

/// Takes what a run declared out of its box into the artifact store of its scope (R10). Bytes first, rows with the
/// run's end: an artifact without a row is garbage for the collector of garbage. Thread-safe.
class Collector
{
public:
    Collector(store::SkillPackageStore& artifacts, const Clock& clock) : m_artifacts(artifacts), m_clock(clock) {}

    using Holds = std::vector<store::BundleHolds::Hold>;
    /// Adds artifacts and refused outputs to `run`. An error means that not everything was kept. `holds` keep the bytes
    /// from a collection of garbage until the rows are durable.
    Result<void> collect(LiveBox& box, LiveRun& run, Holds& holds);

private:
    Result<void> keep(LiveRun& run, const sandbox::CollectedFile& file, Holds& holds);

    store::SkillPackageStore& m_artifacts;
    const Clock& m_clock;
};

} // namespace assay::runs
