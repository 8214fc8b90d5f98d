// SPDX-License-Identifier: Apache-2.0
#include "server/runs/manifest.h"

#include "server/core/json.h"

#include <algorithm>

namespace assay::runs {

namespace {

constexpr std::string_view kFormat = "assay-manifest-v1";

json::array strings(const std::vector<std::string>& values)
{
    json::array out;
    for (const auto& value : values)
        out.emplace_back(value);
    return out;
}

json::object fileObject(const contract::RevisionFile& file)
{
    return {{"path", file.path},
            {"sha256", file.sha256},
            {"size_bytes", file.sizeBytes},
            {"executable", file.executable},
            {"kind", file.kind},
            {"media_type", file.mediaType}};
}

json::array skillsArray(const RunPlan& plan)
{
    json::array out;
    for (const auto& skill : plan.skills) {
        json::array files;
        for (const auto& file : skill.files)
            files.emplace_back(fileObject(file));
        out.emplace_back(json::object{{"name", skill.name},
                                      {"revision", skill.revision},
                                      {"number", skill.number},
                                      {"digest", skill.digest.text()},
                                      {"size_bytes", skill.sizeBytes},
                                      {"files", std::move(files)}});
    }
    return out;
}

/// General subagents inherit the whole list, so only the explicitly authorized subsets are written (R13): names of
/// `skills`, which pins each once. A subagent has none of its own.
json::array subagentsArray(const RunPlan& plan)
{
    json::array out;
    if (!plan.subagent.empty())
        return out;
    for (const auto& subagent : plan.agent->definition.subagents)
        out.emplace_back(json::object{{"name", subagent.name}, {"skills", strings(subagent.skills)}});
    return out;
}

json::object limitsObject(const EffectiveLimits& limits)
{
    const bool truncates = limits.command.outputMode == sandbox::OutputMode::Truncate;
    return {{"cpus", limits.box.cpus},
            {"memory_bytes", limits.box.memoryBytes},
            {"pids", limits.box.pids},
            {"workspace_bytes", limits.box.workspaceBytes},
            {"tmp_bytes", limits.box.tmpBytes},
            {"wall_ms", limits.command.wall.count()},
            {"output_bytes", limits.command.outputBytes},
            {"output_mode", truncates ? "truncate" : "terminate"}};
}

json::object egressObject(const EffectiveEgress& egress)
{
    json::object declared;
    for (const auto& [skill, wish] : egress.declared)
        declared[skill] = wish;
    json::object granted{{"tier", egress.granted.tier}, {"allowlist", strings(egress.granted.allowlist)}};
    if (egress.granted.maxBytes)
        granted["max_bytes"] = *egress.granted.maxBytes;
    return {{"granted", std::move(granted)},
            {"declared", std::move(declared)},
            {"effective", json::object{{"tier", egress.tier}}},
            {"clamped", strings(egress.clamped)}};
}

json::object pinnedText(std::string_view text)
{
    return {{"sha256", Digest::ofBytes(text).text()}, {"size_bytes", text.size()}};
}

json::object commandObject(const PlannedCommand& command)
{
    json::object out;
    if (command.skill.empty()) {
        out["argv"] = strings(command.argv);
    } else {
        out["skill"] = command.skill;
        out["script"] = command.script;
        out["args"] = strings(command.args);
    }
    json::object env;
    for (const auto& [name, value] : command.env)
        env[name] = pinnedText(value);
    out["env"] = std::move(env);
    out["stdin"] = pinnedText(command.stdinBytes);
    return out;
}

json::array filesArray(const std::map<std::string, std::string>& files)
{
    json::array out;
    for (const auto& [path, text] : files) {
        auto file = pinnedText(text);
        file["path"] = path;
        out.emplace_back(std::move(file));
    }
    return out;
}

json::object planObject(const RunPlan& plan)
{
    json::object out{{"format", kFormat},
                     {"run", plan.runId},
                     {"scope_fingerprint", plan.scopeFingerprint},
                     {"created_at", formatTimestamp(plan.createdAt)},
                     {"skills", skillsArray(plan)},
                     {"package_store", plan.storeIdentity},
                     {"materialization", materializationIdentity(plan).text()},
                     {"driver", plan.driver},
                     {"base_digest", plan.base.digest},
                     {"limits", limitsObject(plan.limits)},
                     {"egress", egressObject(plan.egress)},
                     {"session", plan.session},
                     {"outputs", strings(plan.outputs)},
                     {"files", filesArray(plan.files)}};
    if (plan.agent) {
        out["agent"] = json::object{{"name", plan.agent->definition.name},
                                    {"revision", plan.agent->revision},
                                    {"number", plan.agent->number},
                                    {"digest", plan.agent->digest}};
        out["subagents"] = subagentsArray(plan);
        if (!plan.subagent.empty())
            out["subagent"] = plan.subagent;
    }
    if (plan.command)
        out["command"] = commandObject(*plan.command);
    return out;
}

contract::RevisionFile readFileEntry(const json::object& entry)
{
    return {.path = std::string(entry.at("path").as_string()),
            .sha256 = std::string(entry.at("sha256").as_string()),
            .sizeBytes = entry.at("size_bytes").to_number<std::uint64_t>(),
            .executable = entry.at("executable").as_bool(),
            .kind = std::string(entry.at("kind").as_string()),
            .mediaType = std::string(entry.at("media_type").as_string())};
}

ManifestSkill readSkillEntry(const json::object& entry)
{
    ManifestSkill out{.name = std::string(entry.at("name").as_string()), .digest = {}, .files = {}};
    out.digest = Digest::parse(entry.at("digest").as_string()).value();
    for (const auto& file : entry.at("files").as_array())
        out.files.push_back(readFileEntry(file.as_object()));
    return out;
}

void hashPart(Sha256& hash, std::string_view part)
{
    hash.update(std::to_string(part.size())).update(":").update(part);
}

} // namespace

Digest materializationIdentity(const RunPlan& plan)
{
    Sha256 hash;
    hashPart(hash, plan.scopeFingerprint);
    hashPart(hash, plan.agent ? plan.agent->revision : std::string());
    hashPart(hash, plan.storeIdentity);
    for (const auto& skill : plan.skills) {
        hashPart(hash, skill.name);
        hashPart(hash, skill.digest.bytes());
    }
    return hash.finish();
}

ManifestText writeManifest(const RunPlan& plan)
{
    auto text = canonicalJson(planObject(plan));
    const auto digest = Digest::ofBytes(text);
    return {.canonicalJson = std::move(text), .digest = digest};
}

Result<std::vector<ManifestSkill>> manifestSkills(std::string_view canonicalJson)
{
    auto parsed = parseJson(canonicalJson);
    if (!parsed)
        return fail(ErrorCode::Internal, "the stored manifest cannot be read", parsed.error().message);
    try {
        const auto& top = parsed->as_object();
        if (top.at("format").as_string() != kFormat)
            return fail(ErrorCode::Internal, "the stored manifest has an unknown format");
        std::vector<ManifestSkill> out;
        for (const auto& skill : top.at("skills").as_array())
            out.push_back(readSkillEntry(skill.as_object()));
        return out;
    } catch (const std::exception& error) {
        return fail(ErrorCode::Internal, "the stored manifest cannot be read", error.what());
    }
}

} // namespace assay::runs
