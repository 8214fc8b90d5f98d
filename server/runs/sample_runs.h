// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/contract/sample.h"
#include "server/registry/review/desk.h"
#include "server/runs/run_service.h"

namespace assay::runs {

/// Runs of saved and given inputs with chosen revisions: the test runs of a proposal, and comparisons of two revisions
/// (docs/review.md). It joins the review desk, which knows no runs, and the runs' service. Thread-safe; calls start
/// runs and do not wait for their ends.
class SampleRuns
{
public:
    SampleRuns(RunService& runs, registry::SkillService& skills, review::Desk& desk, const Clock& clock)
        : m_runs(runs), m_skills(skills), m_desk(desk), m_clock(clock)
    {}

    /// Starts a run of every saved sample of the proposal's skill with exactly its revision: one entry each, in the
    /// order of names, also for those that could not start. `Conflict` when the proposal is closed or the skill has no
    /// sample.
    Result<std::vector<contract::SampleRun>> test(const auth::Identity& by, std::string_view proposal);

    /// Starts two runs on one input. When the second cannot start, the first is cancelled and nothing is kept.
    Result<contract::Comparison> compare(const auth::Identity& by, std::string_view skill,
                                         const contract::NewComparison& asked);
    /// As it stands now.
    Result<contract::Comparison> comparison(const auth::Identity& by, std::string_view skill, std::string_view id);

private:
    Result<contract::SampleInput> inputOf(const auth::Identity& by, std::string_view skill,
                                          const contract::NewComparison& asked);
    Result<contract::Run> startOne(const auth::Identity& by, std::string_view skill, const std::string& revision,
                                   const contract::SampleInput& input);
    Result<contract::Comparison> report(const auth::Identity& by, const store::ComparisonRow& row);

    RunService& m_runs;
    registry::SkillService& m_skills;
    review::Desk& m_desk;
    const Clock& m_clock;
};

} // namespace assay::runs
