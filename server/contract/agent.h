// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/contract/page.h"
#include "server/core/clock.h"
#include "server/core/error.h"

namespace assay::contract {

/// Egress grant of an agent or a run (api.md, "Egress policy").
struct Egress
{
    std::string tier = "none"; ///< "none", "default_internet" or "allowlist"
    std::vector<std::string> allowlist;
    std::optional<std::uint64_t> maxBytes;
};

/// Limits of a run, none above the server's. Absent members take the server's defaults.
struct RunLimits
{
    std::optional<double> cpus;
    std::optional<std::uint64_t> memoryBytes;
    std::optional<std::uint64_t> pids;
    std::optional<std::uint64_t> wallMs;
    std::optional<std::uint64_t> outputBytes;
    std::optional<std::string> outputMode; ///< "truncate" or "terminate"
    std::optional<std::uint64_t> workspaceBytes;
};

struct Subagent
{
    std::string name;
    std::vector<std::string> skills; ///< a subset of the agent's
};

struct AgentDefinition
{
    std::string name;
    std::vector<std::string> skills;
    std::vector<Subagent> subagents;
    std::string environment;           ///< empty: the base
    std::string execution = "inherit"; ///< "inherit", "on" or "off"
    Egress egress;
    std::optional<RunLimits> limits;
};

struct Agent
{
    AgentDefinition definition;
    std::string revision;
    std::uint64_t number = 0;
    std::string digest; ///< of the definition's canonical JSON
    Timestamp createdAt;
    Timestamp updatedAt;
    std::string etag;
    std::vector<Problem> warnings; ///< for example a skill that needs execution where it is off
};

} // namespace assay::contract
