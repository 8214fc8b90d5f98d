// SPDX-License-Identifier: Apache-2.0
#include "server/runs/resolver.h"

#include "server/core/json.h"
#include "server/registry/schema_files.h"
#include "server/runs/egress_grant.h"
#include "server/runs/request_rules.h"
#include "server/runs/script_command.h"

#include <algorithm>
#include <format>

namespace assay::runs {

namespace {

Result<void> checkAuthorization(const contract::Agent& agent)
{
    if (agent.definition.execution == "off")
        return refuse("policy_denied",
                      std::format("execution is off for agent \"{}\"; set its execution to \"inherit\" or \"on\"",
                                  agent.definition.name));
    if (!agent.definition.environment.empty())
        return refuse("environment_unavailable",
                      std::format("agent \"{}\" asks for environment \"{}\", and this server has only its base; leave "
                                  "environment empty",
                                  agent.definition.name, agent.definition.environment));
    return {};
}

/// Nothing for a schema that was not asked for.
Result<void> readSchema(const std::vector<registry::PackageFile>& files,
                        const std::function<bool(std::string_view)>& isListed, PlannedSchema& schema)
{
    if (schema.path.empty())
        return {};
    if (!isListed(schema.path))
        return refuse("schema_unusable", std::format("the skill names {} as a schema, and has no such file; publish it "
                                                     "with the file, or without the name",
                                                     schema.path));
    const auto file = std::ranges::find(files, schema.path, &registry::PackageFile::path);
    if (file == files.end())
        return refuse("digest_mismatch", "the stored package does not hold a schema that the catalog lists");
    schema.text = file->content;
    return {};
}

std::string listed(const std::vector<registry::PinnedSkill>& skills)
{
    std::string out;
    for (const auto& skill : skills)
        out += (out.empty() ? "" : ", ") + skill.name;
    return out.empty() ? "none" : out;
}

/// Exactly what the subagent declares. A name that the agent does not declare is no general subagent: who mistypes one
/// must not get more.
Result<std::vector<std::string>> skillsOf(const contract::AgentDefinition& agent, const std::string& subagent)
{
    if (subagent.empty())
        return agent.skills;
    const auto found = std::ranges::find(agent.subagents, subagent, &contract::Subagent::name);
    if (found == agent.subagents.end())
        return refuse("policy_denied",
                      std::format("agent \"{}\" declares no subagent \"{}\"; leave subagent out to run with all of the "
                                  "agent's skills",
                                  agent.name, subagent));
    return found->skills;
}

} // namespace

Result<void> Resolver::resolveSkills(const auth::Identity& by, const contract::StartRun& request, RunPlan& plan)
{
    std::vector<std::string> names = request.skills;
    if (!request.agent.empty()) {
        auto agent = m_catalog.agent(by, request.agent);
        if (!agent)
            return forward(agent);
        plan.agent = std::move(*agent);
        plan.subagent = request.subagent;
        if (auto allowed = checkAuthorization(*plan.agent); !allowed)
            return allowed;
        auto allowed = skillsOf(plan.agent->definition, plan.subagent);
        if (!allowed)
            return forward(allowed);
        names = std::move(*allowed);
    }
    auto pinned = m_catalog.pin(by.scopeFingerprint, names, request.revisions);
    if (!pinned)
        return forward(pinned);
    plan.skills = std::move(*pinned);
    return {};
}

Result<void> Resolver::resolveCommand(const contract::StartRun& request, RunPlan& plan)
{
    if (!request.command)
        return {};
    const auto& asked = *request.command;
    PlannedCommand command{.skill = asked.skill,
                           .script = asked.script,
                           .args = asked.args,
                           .argv = asked.argv,
                           .env = asked.env,
                           .stdinBytes = asked.stdinText.value_or("")};
    if (asked.input)
        command.stdinBytes = json::serialize(*asked.input) + "\n";
    if (command.stdinBytes.size() > RequestLimits::kStdinBytes)
        return failAt("/command/input", std::format("the input is {} bytes as JSON text; the limit is {}",
                                                    command.stdinBytes.size(), RequestLimits::kStdinBytes));
    if (!asked.skill.empty())
        if (auto resolved = resolveScript(asked, command, plan); !resolved)
            return resolved;
    plan.command = std::move(command);
    return {};
}

Result<void> Resolver::resolveScript(const contract::RunCommand& asked, PlannedCommand& command, const RunPlan& plan)
{
    const auto skill = std::ranges::find(plan.skills, asked.skill, &registry::PinnedSkill::name);
    if (skill == plan.skills.end() && !plan.subagent.empty())
        return refuse("policy_denied", std::format("the subagent \"{}\" may not use the skill \"{}\"; it has {}",
                                                   plan.subagent, asked.skill, listed(plan.skills)));
    if (skill == plan.skills.end())
        return failAt("/command/skill", plan.agent ? "the agent does not have this skill; attach it to the agent first"
                                                   : "this skill is not among the run's skills; add it to skills");
    if (auto script = findScript(skill->files, skill->name, asked.script); !script)
        return forward(script);
    return applySchemas(asked, command, plan, *skill);
}

Result<void> Resolver::applySchemas(const contract::RunCommand& asked, PlannedCommand& command, const RunPlan& plan,
                                    const registry::PinnedSkill& skill)
{
    const auto isThere = [&](std::string_view path) {
        return std::ranges::contains(skill.files, path, &contract::RevisionFile::path);
    };
    PlannedSchema input{registry::schemaPath(asked.script, registry::SchemaOf::Input, skill.inputSchema, isThere), {}};
    PlannedSchema output{registry::schemaPath(asked.script, registry::SchemaOf::Output, skill.outputSchema, isThere),
                         {}};
    if (input.path.empty() && output.path.empty())
        return {};
    const auto bundle = m_catalog.bundle(plan.scopeFingerprint, skill.digest);
    if (!bundle)
        return std::unexpected(bundle.error());
    const auto files = registry::parseCanonicalStream(bundle->bytes(), registry::FileFacts::Skip);
    if (!files)
        return std::unexpected(files.error());
    for (PlannedSchema* schema : {&input, &output})
        if (auto read = readSchema(*files, isThere, *schema); !read)
            return read;
    if (!output.path.empty())
        command.outputSchema = std::move(output);
    return input.path.empty() ? Result<void>{} : checkInput(asked, command, input);
}

Result<void> Resolver::checkInput(const contract::RunCommand& asked, const PlannedCommand& command,
                                  const PlannedSchema& schema)
{
    if (!asked.input && !asked.stdinText)
        return failAt("/command/input",
                      std::format("this script declares the schema of its input in {}; give an input", schema.path));
    if (asked.stdinText)
        if (auto parsed = parseJson(*asked.stdinText); !parsed)
            return failAt("/command/stdin", "this script declares a schema of its input, and stdin is not JSON: " +
                                                parsed.error().message);
    auto checked = m_check(schema.text, command.stdinBytes, asked.input ? "/command/input" : "/command/stdin");
    if (!checked && checked.error().code == ErrorCode::InvalidArgument)
        checked.error().message = std::format("the input does not fit the schema {} of the skill", schema.path);
    return checked;
}

Result<void> Resolver::resolve(const auth::Identity& by, const contract::StartRun& request, RunPlan& plan)
{
    if (auto valid = checkStartRun(request); !valid)
        return valid;
    plan.session = request.session;
    plan.files = request.files;
    plan.outputs = request.outputs.empty() ? std::vector<std::string>{"**"} : request.outputs;
    if (auto resolved = resolveSkills(by, request, plan); !resolved)
        return resolved;
    auto limits = effectiveLimits(request.limits.value_or(contract::RunLimits{}),
                                  plan.agent ? plan.agent->definition.limits : std::nullopt, m_ceilings);
    if (!limits)
        return forward(limits);
    plan.limits = *limits;
    if (auto command = resolveCommand(request, plan); !command)
        return command;
    // Nobody has approved what was never current: it is looked at without a network.
    const bool isProposed = std::ranges::any_of(plan.skills, &registry::PinnedSkill::proposed);
    if (isProposed && request.egress && request.egress->tier != "none")
        return refuse("policy_denied", "a revision that was never promoted runs without a network: leave egress out");
    auto egress = effectiveEgress(request.egress, plan.agent, plan.skills);
    if (!egress)
        return forward(egress);
    plan.egress = std::move(*egress);
    return {};
}

} // namespace assay::runs
