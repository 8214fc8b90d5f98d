// SPDX-License-Identifier: Apache-2.0
#include "server/runs/run_row.h"

#include "server/core/json.h"

namespace assay::runs {

namespace {

std::string phasesText(const std::vector<contract::Phase>& phases)
{
    json::array out;
    for (const auto& phase : phases) {
        json::object each{{"name", phase.name}, {"started_at", formatTimestamp(phase.startedAt)}};
        if (phase.endedAt)
            each["ended_at"] = formatTimestamp(*phase.endedAt);
        out.emplace_back(std::move(each));
    }
    return json::serialize(out);
}

std::string usageText(const std::optional<contract::RunUsage>& usage)
{
    if (!usage)
        return {};
    return json::serialize(json::object{{"cpu_ms", usage->cpuMs},
                                        {"wall_ms", usage->wallMs},
                                        {"peak_memory_bytes", usage->peakMemoryBytes},
                                        {"workspace_bytes", usage->workspaceBytes},
                                        {"memory_limit_bytes", usage->memoryLimitBytes},
                                        {"cpu_limit", usage->cpuLimit},
                                        {"limits_enforcement", usage->limitsEnforcement}});
}

std::string outputCheckText(const std::optional<contract::OutputCheck>& check)
{
    if (!check)
        return {};
    json::array errors;
    for (const auto& each : check->errors)
        errors.emplace_back(json::array{each.pointer, each.message});
    return json::serialize(json::object{{"state", check->state},
                                        {"schema", check->schema},
                                        {"message", check->message},
                                        {"errors", std::move(errors)}});
}

std::string rejectedText(const std::vector<contract::RejectedOutput>& rejected)
{
    json::array out;
    for (const auto& each : rejected)
        out.emplace_back(json::object{{"path", each.path}, {"reason", each.reason}});
    return json::serialize(out);
}

std::vector<contract::Phase> readPhases(const std::string& text)
{
    std::vector<contract::Phase> out;
    const auto parsed = parseJson(text);
    if (!parsed || !parsed->is_array())
        return out;
    for (const auto& value : parsed->get_array()) {
        contract::Phase phase{std::string(value.at("name").as_string()), {}, std::nullopt};
        phase.startedAt = parseTimestamp(value.at("started_at").as_string()).value();
        if (const auto* ended = value.as_object().if_contains("ended_at"))
            phase.endedAt = parseTimestamp(ended->as_string()).value();
        out.push_back(std::move(phase));
    }
    return out;
}

std::optional<contract::RunUsage> readUsage(const std::string& text)
{
    const auto parsed = parseJson(text);
    if (!parsed || !parsed->is_object())
        return std::nullopt;
    const auto whole = [&](const char* name) { return parsed->at(name).to_number<std::uint64_t>(); };
    return contract::RunUsage{.cpuMs = whole("cpu_ms"),
                              .wallMs = whole("wall_ms"),
                              .peakMemoryBytes = whole("peak_memory_bytes"),
                              .workspaceBytes = whole("workspace_bytes"),
                              .memoryLimitBytes = whole("memory_limit_bytes"),
                              .cpuLimit = parsed->at("cpu_limit").to_number<double>(),
                              .limitsEnforcement = std::string(parsed->at("limits_enforcement").as_string())};
}

std::vector<contract::RejectedOutput> readRejected(const std::string& text)
{
    std::vector<contract::RejectedOutput> out;
    const auto parsed = parseJson(text);
    if (!parsed || !parsed->is_array())
        return out;
    for (const auto& value : parsed->get_array())
        out.push_back({std::string(value.at("path").as_string()), std::string(value.at("reason").as_string())});
    return out;
}

std::optional<contract::OutputCheck> readOutputCheck(const std::string& text)
{
    const auto parsed = parseJson(text);
    if (!parsed || !parsed->is_object())
        return std::nullopt;
    contract::OutputCheck out{.state = std::string(parsed->at("state").as_string()),
                              .schema = std::string(parsed->at("schema").as_string()),
                              .message = std::string(parsed->at("message").as_string()),
                              .errors = {}};
    for (const auto& each : parsed->at("errors").as_array())
        out.errors.push_back({.code = {},
                              .message = std::string(each.at(1).as_string()),
                              .path = {},
                              .pointer = std::string(each.at(0).as_string())});
    return out;
}

/// `read(text)`, or its empty value when the stored text is not what it should be.
template <typename Read> auto lenient(Read read, const std::string& text) -> decltype(read(text))
{
    if (text.empty())
        return {};
    try {
        return read(text);
    } catch (const std::exception&) {
        return {};
    }
}

} // namespace

store::RunRow planRow(const RunPlan& plan, std::string_view creator)
{
    store::RunRow row;
    row.id = plan.runId;
    row.state = "queued";
    row.agent = plan.agent ? plan.agent->definition.name : std::string();
    row.agentRevision = plan.agent ? plan.agent->revision : std::string();
    row.subagent = plan.subagent;
    row.session = plan.session;
    row.driver = plan.driver;
    row.baseDigest = plan.base.digest;
    for (const auto& skill : plan.skills)
        row.skills.push_back({skill.name, skill.revision, skill.number, skill.digest});
    row.creator = creator;
    row.createdAt = plan.createdAt;
    return row;
}

store::RunProgress progressOf(const contract::Run& run)
{
    return {.state = run.state,
            .phases = phasesText(run.phases),
            .usage = usageText(run.usage),
            .rejectedOutputs = run.rejectedOutputs.empty() ? std::string() : rejectedText(run.rejectedOutputs),
            .outputCheck = outputCheckText(run.outputCheck),
            .termination = run.termination,
            .reason = run.reason,
            .message = run.message,
            .endedAt = run.endedAt};
}

contract::Run runOf(std::string_view fingerprint, const store::RunRow& row)
{
    contract::Run run;
    run.id = row.id;
    run.state = row.state;
    run.agent = row.agent;
    run.subagent = row.subagent;
    for (const auto& skill : row.skills)
        run.skills.push_back({skill.name, skill.revision, skill.number, skill.digest.text()});
    run.scopeFingerprint = fingerprint;
    run.manifestDigest = row.manifestDigest;
    run.driver = row.driver;
    run.baseDigest = row.baseDigest;
    run.session = row.session;
    run.phases = lenient(readPhases, row.phases);
    run.usage = lenient(readUsage, row.usage);
    run.rejectedOutputs = lenient(readRejected, row.rejectedOutputs);
    run.outputCheck = lenient(readOutputCheck, row.outputCheck);
    run.termination = row.termination;
    run.reason = row.reason;
    run.message = row.message;
    run.createdAt = row.createdAt;
    run.endedAt = row.endedAt;
    return run;
}

} // namespace assay::runs
