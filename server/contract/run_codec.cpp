// SPDX-License-Identifier: Apache-2.0
#include "server/contract/codec.h"
#include "server/contract/json_parts.h"
#include "server/core/base64.h"
#include "server/core/text.h"

namespace assay::contract {

namespace {

enum class Output : std::uint8_t { Carried, Omitted };

void addStream(json::object& out, std::string_view name, const std::string& bytes)
{
    if (isUtf8(bytes))
        out[name] = bytes;
    else
        out[std::string(name) + "_base64"] = toBase64(bytes);
}

json::object commandJson(const CommandResult& command, Output output)
{
    json::object out{{"id", command.id},
                     {"state", command.state},
                     {"exit_code", valueOrNull(command.exitCode)},
                     {"signal", valueOrNull(command.signal)},
                     {"termination", textOrNull(command.termination)}};
    if (output == Output::Carried) {
        addStream(out, "stdout", command.stdoutBytes);
        addStream(out, "stderr", command.stderrBytes);
    } else {
        out["output_omitted"] = true;
    }
    out["stdout_bytes"] = command.stdoutTotal;
    out["stderr_bytes"] = command.stderrTotal;
    out["dropped_bytes"] = command.droppedBytes;
    out["wall_ms"] = command.wallMs;
    out["cpu_ms"] = command.cpuMs;
    out["max_rss_bytes"] = command.maxRssBytes;
    out["started_at"] = timeOrNull(command.startedAt);
    out["ended_at"] = timeOrNull(command.endedAt);
    return out;
}

json::array commandsJson(const Run& run, RunDetail detail)
{
    json::array out;
    std::uint64_t left = detail == RunDetail::Full ? kRunOutputBytes : 0;
    for (const CommandResult& command : run.commands) {
        const std::uint64_t size = command.stdoutBytes.size() + command.stderrBytes.size();
        const bool fits = detail == RunDetail::Full && size <= left;
        left -= fits ? size : 0;
        out.push_back(commandJson(command, fits ? Output::Carried : Output::Omitted));
    }
    return out;
}

json::array skillsJson(const std::vector<RunSkill>& skills)
{
    json::array out;
    for (const RunSkill& skill : skills)
        out.push_back(json::object{
            {"name", skill.name}, {"revision", skill.revision}, {"number", skill.number}, {"digest", skill.digest}});
    return out;
}

json::array phasesJson(const std::vector<Phase>& phases)
{
    json::array out;
    for (const Phase& phase : phases)
        out.push_back(json::object{
            {"name", phase.name}, {"started_at", timeText(phase.startedAt)}, {"ended_at", timeOrNull(phase.endedAt)}});
    return out;
}

json::array artifactsJson(const std::vector<Artifact>& artifacts)
{
    json::array out;
    for (const Artifact& artifact : artifacts)
        out.push_back(toJson(artifact));
    return out;
}

json::array rejectedJson(const std::vector<RejectedOutput>& rejected)
{
    json::array out;
    for (const RejectedOutput& output : rejected)
        out.push_back(json::object{{"path", output.path}, {"reason", output.reason}});
    return out;
}

json::value outputCheckJson(const std::optional<OutputCheck>& check)
{
    if (!check)
        return nullptr;
    json::array errors;
    for (const Problem& problem : check->errors)
        errors.push_back(json::object{{"pointer", problem.pointer}, {"message", problem.message}});
    return json::object{{"state", check->state},
                        {"schema", check->schema},
                        {"message", textOrNull(check->message)},
                        {"errors", std::move(errors)}};
}

json::value usageJson(const std::optional<RunUsage>& usage)
{
    if (!usage)
        return nullptr;
    return json::object{{"cpu_ms", usage->cpuMs},
                        {"wall_ms", usage->wallMs},
                        {"peak_memory_bytes", usage->peakMemoryBytes},
                        {"workspace_bytes", usage->workspaceBytes},
                        {"memory_limit_bytes", usage->memoryLimitBytes},
                        {"cpu_limit", numberJson(usage->cpuLimit)},
                        {"limits_enforcement", textOrNull(usage->limitsEnforcement)}};
}

} // namespace

json::object toJson(const CommandResult& command) { return commandJson(command, Output::Carried); }

json::object toJson(const Artifact& artifact)
{
    return {{"id", artifact.id},
            {"run", artifact.run},
            {"path", artifact.path},
            {"sha256", artifact.sha256},
            {"size_bytes", artifact.sizeBytes},
            {"media_type", artifact.mediaType},
            {"created_at", timeText(artifact.createdAt)}};
}

json::object toJson(const Run& run, RunDetail detail)
{
    return {{"id", run.id},
            {"state", run.state},
            {"agent", textOrNull(run.agent)},
            {"subagent", textOrNull(run.subagent)},
            {"skills", skillsJson(run.skills)},
            {"scope_fingerprint", run.scopeFingerprint},
            {"manifest_digest", textOrNull(run.manifestDigest)},
            {"driver", textOrNull(run.driver)},
            {"base_digest", textOrNull(run.baseDigest)},
            {"session", run.session},
            {"phases", phasesJson(run.phases)},
            {"commands", commandsJson(run, detail)},
            {"artifacts", artifactsJson(run.artifacts)},
            {"rejected_outputs", rejectedJson(run.rejectedOutputs)},
            {"output_check", outputCheckJson(run.outputCheck)},
            {"usage", usageJson(run.usage)},
            {"termination", textOrNull(run.termination)},
            {"reason", textOrNull(run.reason)},
            {"message", textOrNull(run.message)},
            {"created_at", timeText(run.createdAt)},
            {"ended_at", timeOrNull(run.endedAt)}};
}

} // namespace assay::contract
