// SPDX-License-Identifier: Apache-2.0
#include "server/registry/agent_rules.h"

#include "server/core/text.h"
#include "server/registry/name_slug.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace assay::registry {

namespace {

Result<void> checkName(const std::string& pointer, std::string_view name)
{
    if (isRegistryName(name))
        return {};
    return failAt(pointer, "a name has 1 to 64 of a-z, 0-9 and single inner hyphens");
}

Result<void> checkNames(const std::string& pointer, const std::vector<std::string>& names)
{
    constexpr std::size_t kMaxNames = 64;
    if (names.size() > kMaxNames)
        return failAt(pointer, "at most " + std::to_string(kMaxNames) + " skills are allowed here");
    std::set<std::string_view> seen;
    for (std::size_t i = 0; i < names.size(); ++i) {
        const std::string place = pointer + "/" + std::to_string(i);
        if (auto checked = checkName(place, names[i]); !checked)
            return checked;
        if (!seen.insert(names[i]).second)
            return failAt(place, "the skill \"" + names[i] + "\" is named twice");
    }
    return {};
}

Result<void> checkSubagent(const std::string& pointer, const contract::Subagent& subagent,
                           const contract::AgentDefinition& definition)
{
    auto checked = checkName(pointer + "/name", subagent.name);
    if (checked)
        checked = checkNames(pointer + "/skills", subagent.skills);
    for (std::size_t i = 0; checked && i < subagent.skills.size(); ++i) {
        if (!std::ranges::contains(definition.skills, subagent.skills[i]))
            return failAt(pointer + "/skills/" + std::to_string(i),
                          "a subagent may use only skills of its agent; attach \"" + subagent.skills[i] +
                              "\" to the agent first");
    }
    return checked;
}

Result<void> checkSubagents(const contract::AgentDefinition& definition)
{
    constexpr std::size_t kMaxSubagents = 32;
    if (definition.subagents.size() > kMaxSubagents)
        return failAt("/subagents", "an agent has at most " + std::to_string(kMaxSubagents) + " subagents");
    std::set<std::string_view> seen;
    for (std::size_t i = 0; i < definition.subagents.size(); ++i) {
        const std::string pointer = "/subagents/" + std::to_string(i);
        if (auto checked = checkSubagent(pointer, definition.subagents[i], definition); !checked)
            return checked;
        if (!seen.insert(definition.subagents[i].name).second)
            return failAt(pointer + "/name", "two subagents have this name");
    }
    return {};
}

Result<void> checkEgress(const contract::Egress& egress)
{
    constexpr std::size_t kMaxEntries = 256;
    constexpr std::size_t kMaxEntryBytes = 260; // "*." and a name of 253 with a port
    constexpr std::string_view kTiers[] = {"none", "default_internet", "allowlist"};
    if (!std::ranges::contains(kTiers, egress.tier))
        return failAt("/egress/tier", "tier must be none, default_internet or allowlist");
    if (egress.allowlist.size() > kMaxEntries)
        return failAt("/egress/allowlist", "at most " + std::to_string(kMaxEntries) + " entries are allowed");
    if (!egress.allowlist.empty() && egress.tier != "allowlist")
        return failAt("/egress/allowlist", "an allowlist needs the tier allowlist");
    for (std::size_t i = 0; i < egress.allowlist.size(); ++i) {
        const std::string& entry = egress.allowlist[i];
        if (entry.empty() || entry.size() > kMaxEntryBytes || !isUtf8(entry))
            return failAt("/egress/allowlist/" + std::to_string(i), "an entry is host, *.host or host:port");
    }
    return {};
}

Result<void> checkLimits(const std::optional<contract::RunLimits>& limits)
{
    if (!limits)
        return {};
    if (limits->cpus && !(std::isfinite(*limits->cpus) && *limits->cpus > 0))
        return failAt("/limits/cpus", "cpus must be a number above 0");
    const std::pair<const char*, std::optional<std::uint64_t>> counts[] = {{"memory_bytes", limits->memoryBytes},
                                                                           {"pids", limits->pids},
                                                                           {"wall_ms", limits->wallMs},
                                                                           {"output_bytes", limits->outputBytes},
                                                                           {"workspace_bytes", limits->workspaceBytes}};
    for (const auto& [member, value] : counts) {
        if (value && (*value == 0 || *value > INT64_MAX))
            return failAt(std::string("/limits/") + member, "the limit must be above 0");
    }
    if (limits->outputMode && *limits->outputMode != "truncate" && *limits->outputMode != "terminate")
        return failAt("/limits/output_mode", "output_mode must be truncate or terminate");
    return {};
}

Result<void> checkWords(const contract::AgentDefinition& definition)
{
    constexpr std::size_t kMaxEnvironmentBytes = 128;
    constexpr std::string_view kExecutions[] = {"inherit", "on", "off"};
    if (!std::ranges::contains(kExecutions, definition.execution))
        return failAt("/execution", "execution must be inherit, on or off");
    if (definition.environment.size() > kMaxEnvironmentBytes || !isUtf8(definition.environment))
        return failAt("/environment",
                      "an environment's name is UTF-8 of at most " + std::to_string(kMaxEnvironmentBytes) + " bytes");
    return {};
}

} // namespace

Result<void> checkDefinition(const contract::AgentDefinition& definition)
{
    auto checked = checkName("/name", definition.name);
    if (checked)
        checked = checkNames("/skills", definition.skills);
    if (checked)
        checked = checkSubagents(definition);
    if (checked)
        checked = checkWords(definition);
    if (checked)
        checked = checkEgress(definition.egress);
    return checked ? checkLimits(definition.limits) : checked;
}

} // namespace assay::registry
