// SPDX-License-Identifier: Apache-2.0
#include "server/registry/agent_form.h"

#include "server/core/json.h"

namespace assay::registry {

namespace {

json::array arrayOf(const std::vector<std::string>& strings) { return json::array(strings.begin(), strings.end()); }

template <typename T> void put(json::object& out, std::string_view member, const std::optional<T>& value)
{
    if (value)
        out[member] = *value;
}

json::object limitsForm(const contract::RunLimits& limits)
{
    json::object out;
    put(out, "cpus", limits.cpus);
    put(out, "memory_bytes", limits.memoryBytes);
    put(out, "pids", limits.pids);
    put(out, "wall_ms", limits.wallMs);
    put(out, "output_bytes", limits.outputBytes);
    put(out, "output_mode", limits.outputMode);
    put(out, "workspace_bytes", limits.workspaceBytes);
    return out;
}

json::object egressForm(const contract::Egress& egress)
{
    json::object out{{"tier", egress.tier}, {"allowlist", arrayOf(egress.allowlist)}};
    put(out, "max_bytes", egress.maxBytes);
    return out;
}

std::string text(const json::object& form, std::string_view member) { return std::string(form.at(member).as_string()); }

std::vector<std::string> strings(const json::object& form, std::string_view member)
{
    std::vector<std::string> out;
    for (const json::value& value : form.at(member).as_array())
        out.emplace_back(value.as_string());
    return out;
}

std::optional<std::uint64_t> number(const json::object& form, std::string_view member)
{
    const json::value* value = form.if_contains(member);
    return value == nullptr ? std::nullopt : std::optional(value->to_number<std::uint64_t>());
}

contract::RunLimits readLimits(const json::object& form)
{
    contract::RunLimits out;
    if (form.contains("cpus"))
        out.cpus = form.at("cpus").to_number<double>();
    out.memoryBytes = number(form, "memory_bytes");
    out.pids = number(form, "pids");
    out.wallMs = number(form, "wall_ms");
    out.outputBytes = number(form, "output_bytes");
    if (form.contains("output_mode"))
        out.outputMode = text(form, "output_mode");
    out.workspaceBytes = number(form, "workspace_bytes");
    return out;
}

contract::AgentDefinition read(const json::object& form)
{
    contract::AgentDefinition out;
    out.name = text(form, "name");
    out.skills = strings(form, "skills");
    for (const json::value& value : form.at("subagents").as_array())
        out.subagents.push_back({text(value.as_object(), "name"), strings(value.as_object(), "skills")});
    out.environment = text(form, "environment");
    out.execution = text(form, "execution");
    const json::object& egress = form.at("egress").as_object();
    out.egress = {text(egress, "tier"), strings(egress, "allowlist"), number(egress, "max_bytes")};
    if (form.contains("limits"))
        out.limits = readLimits(form.at("limits").as_object());
    return out;
}

} // namespace

std::string writeDefinition(const contract::AgentDefinition& definition)
{
    json::array subagents;
    for (const contract::Subagent& subagent : definition.subagents)
        subagents.push_back(json::object{{"name", subagent.name}, {"skills", arrayOf(subagent.skills)}});
    json::object out{{"name", definition.name},           {"skills", arrayOf(definition.skills)},
                     {"subagents", std::move(subagents)}, {"environment", definition.environment},
                     {"execution", definition.execution}, {"egress", egressForm(definition.egress)}};
    if (definition.limits)
        out["limits"] = limitsForm(*definition.limits);
    return canonicalJson(out);
}

Result<contract::AgentDefinition> readDefinition(std::string_view stored)
{
    constexpr const char* kDamaged = "the stored definition of this agent is damaged; save it again";
    const auto value = parseJson(stored);
    if (!value)
        return fail(ErrorCode::Internal, kDamaged, value.error().message);
    try {
        return read(value->as_object());
    } catch (const std::exception& error) {
        return fail(ErrorCode::Internal, kDamaged, error.what());
    }
}

} // namespace assay::registry
