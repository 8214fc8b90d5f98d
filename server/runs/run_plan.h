// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/auth/identity.h"
#include "server/contract/run.h"
#include "server/registry/skill_service.h"
#include "server/sandbox/box_spec.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace assay::runs {

/// The limits a run really has: asked for, never above the agent's and the server's.
struct EffectiveLimits
{
    sandbox::BoxLimits box;
    sandbox::CommandLimits command;
};

/// What a run may reach, and where the grant narrowed what its skills declare (api.md, "Egress policy").
struct EffectiveEgress
{
    contract::Egress granted;
    std::map<std::string, std::string> declared; ///< skill -> its frontmatter's wish, as written
    std::string tier = "none";                   ///< the effective one
    std::vector<std::string> clamped;            ///< of "tier", "allowlist", "max_bytes"
};

/// A schema of the skill that is executed, read from its pinned package.
struct PlannedSchema
{
    std::string path;
    std::string text;
};

/// The first command of a run, as pinned.
struct PlannedCommand
{
    std::string skill;             ///< empty for free argv
    std::string script;            ///< path in the skill's package
    std::vector<std::string> args; ///< after the script
    std::vector<std::string> argv; ///< free argv
    std::map<std::string, std::string> env;
    std::string stdinBytes;
    std::optional<PlannedSchema> outputSchema{}; ///< what its standard output is checked against
    std::string id{};                            ///< "cmd_...", chosen with the run; not in the manifest
    std::string carrier{};                       ///< the sealed session of who asked for it; never stored or logged
};

/// Everything a run will do, fixed before its box exists: what the manifest says and the executor obeys. A later change
/// of the agent, a skill or the settings does not reach it.
struct RunPlan
{
    std::string runId;
    std::string scopeFingerprint;
    Timestamp createdAt;
    auth::Identity startedBy;             ///< for the ledger; not in the manifest
    std::optional<contract::Agent> agent; ///< the revision that was current
    std::string subagent;                 ///< whose subset `skills` is; empty: all of the agent's
    std::vector<registry::PinnedSkill> skills;
    std::string storeIdentity;
    std::string driver; ///< the resolved name
    sandbox::BaseRoot base;
    EffectiveLimits limits;
    EffectiveEgress egress;
    bool session = false;
    std::optional<PlannedCommand> command;
    std::vector<std::string> outputs; ///< globs below /workspace/out
    std::map<std::string, std::string> files;
};

} // namespace assay::runs
