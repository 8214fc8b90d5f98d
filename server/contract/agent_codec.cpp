// SPDX-License-Identifier: Apache-2.0
#include "server/contract/codec.h"
#include "server/contract/json_parts.h"
#include "server/contract/policy_reader.h"

#include <array>

namespace assay::contract {

namespace {

constexpr std::array<std::string_view, 3> kTiers{"none", "default_internet", "allowlist"};
constexpr std::array<std::string_view, 3> kExecutions{"inherit", "on", "off"};
constexpr std::array<std::string_view, 2> kOutputModes{"truncate", "terminate"};
constexpr std::uint64_t kLargest = 1ULL << 53; // what a double holds exactly; the operator's ceilings are far below
constexpr TextRule kName{.minBytes = 1, .maxBytes = 64};
constexpr ListRule kSkillNames{.maxItems = 200, .item = kName};

void readSubagents(ObjectReader& in, std::vector<Subagent>& out)
{
    in.objects("subagents", 100, [&](ObjectReader& item) {
        Subagent subagent;
        item.text("name", subagent.name, kName).require("name");
        item.texts("skills", subagent.skills, kSkillNames).require("skills");
        out.push_back(std::move(subagent));
    });
}

void judgeName(ObjectReader& in, AgentDefinition& agent, std::string_view pathName)
{
    if (pathName.empty())
        in.require("name");
    else if (!agent.name.empty() && agent.name != pathName)
        in.refuse("name", "the name in the body differs from the name in the path");
    else
        agent.name = pathName;
}

} // namespace

void readEgress(ObjectReader& in, Egress& out)
{
    in.text("tier", out.tier, {.oneOf = kTiers})
        .texts("allowlist", out.allowlist, {.maxItems = 500, .item = {.minBytes = 1, .maxBytes = 260}})
        .count("max_bytes", out.maxBytes, 0, kLargest);
}

void readLimits(ObjectReader& in, RunLimits& out)
{
    in.positive("cpus", out.cpus, 1024)
        .count("memory_bytes", out.memoryBytes, 1, kLargest)
        .count("pids", out.pids, 1, 1U << 22)
        .count("wall_ms", out.wallMs, 1, 86'400'000)
        .count("output_bytes", out.outputBytes, 0, kLargest)
        .text("output_mode", out.outputMode, {.oneOf = kOutputModes})
        .count("workspace_bytes", out.workspaceBytes, 1, kLargest);
}

Result<AgentDefinition> readAgent(const json::value& body, std::string_view pathName)
{
    AgentDefinition out;
    ObjectReader in(body);
    in.text("name", out.name, {.minBytes = 1, .maxBytes = 4096})
        .texts("skills", out.skills, kSkillNames)
        .text("environment", out.environment, {.minBytes = 1, .maxBytes = 128})
        .text("execution", out.execution, {.oneOf = kExecutions})
        .object("egress", [&](ObjectReader& egress) { readEgress(egress, out.egress); })
        .object("limits", [&](ObjectReader& limits) { readLimits(limits, out.limits.emplace()); });
    readSubagents(in, out.subagents);
    in.require("skills");
    judgeName(in, out, pathName);
    return in.finish(std::move(out));
}

json::object toJson(const Egress& egress)
{
    return {
        {"tier", egress.tier}, {"allowlist", textArray(egress.allowlist)}, {"max_bytes", valueOrNull(egress.maxBytes)}};
}

json::object toJson(const RunLimits& limits)
{
    json::object out;
    const auto add = [&out](const char* name, const auto& value) {
        if (value)
            out[name] = *value;
    };
    if (limits.cpus)
        out["cpus"] = numberJson(*limits.cpus);
    add("memory_bytes", limits.memoryBytes);
    add("pids", limits.pids);
    add("wall_ms", limits.wallMs);
    add("output_bytes", limits.outputBytes);
    add("output_mode", limits.outputMode);
    add("workspace_bytes", limits.workspaceBytes);
    return out;
}

json::object toJson(const Agent& agent)
{
    const AgentDefinition& definition = agent.definition;
    json::array subagents;
    for (const Subagent& subagent : definition.subagents)
        subagents.push_back(json::object{{"name", subagent.name}, {"skills", textArray(subagent.skills)}});
    return {{"name", definition.name},
            {"skills", textArray(definition.skills)},
            {"subagents", std::move(subagents)},
            {"environment", textOrNull(definition.environment)},
            {"execution", definition.execution},
            {"egress", toJson(definition.egress)},
            {"limits", toJson(definition.limits.value_or(RunLimits{}))},
            {"revision", agent.revision},
            {"number", agent.number},
            {"digest", agent.digest},
            {"warnings", problemArray(agent.warnings)},
            {"created_at", timeText(agent.createdAt)},
            {"updated_at", timeText(agent.updatedAt)}};
}

} // namespace assay::contract
