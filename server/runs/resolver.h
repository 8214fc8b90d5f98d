// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/runs/catalog_port.h"
#include "server/runs/effective_limits.h"
#include "server/runs/run_plan.h"
#include "server/runs/schema_checker.h"

namespace assay::runs {

/// Turns a request into a plan, once: the agent and the current revision of each skill, read in one snapshot of the
/// exact scope. Nothing is executed and no box exists yet. Thread-safe.
class Resolver
{
public:
    Resolver(CatalogPort& catalog, LimitCeilings ceilings, SchemaCheck check)
        : m_catalog(catalog), m_ceilings(ceilings), m_check(std::move(check))
    {}

    /// `InvalidArgument` for the request's own faults, `NotFound` for the agent, `Refused` with its reason otherwise.
    /// `plan` keeps what was found before a refusal, so that the refused run can be listed with it.
    Result<void> resolve(const auth::Identity& by, const contract::StartRun& request, RunPlan& plan);

private:
    Result<void> resolveSkills(const auth::Identity& by, const contract::StartRun& request, RunPlan& plan);
    Result<void> resolveCommand(const contract::StartRun& request, RunPlan& plan);
    Result<void> resolveScript(const contract::RunCommand& asked, PlannedCommand& command, const RunPlan& plan);
    Result<void> applySchemas(const contract::RunCommand& asked, PlannedCommand& command, const RunPlan& plan,
                              const registry::PinnedSkill& skill);
    Result<void> checkInput(const contract::RunCommand& asked, const PlannedCommand& command,
                            const PlannedSchema& schema);

    CatalogPort& m_catalog;
    LimitCeilings m_ceilings;
    SchemaCheck m_check;
};

} // namespace assay::runs
