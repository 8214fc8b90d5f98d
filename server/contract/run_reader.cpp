// SPDX-License-Identifier: Apache-2.0
#include "server/contract/codec.h"
#include "server/contract/policy_reader.h"

#include <algorithm>

namespace assay::contract {

namespace {

constexpr TextRule kName{.minBytes = 1, .maxBytes = 64};
constexpr TextRule kArgument{.maxBytes = 131'071}; // MAX_ARG_STRLEN of Linux, without its NUL
constexpr ListRule kArguments{.maxItems = 1024, .item = kArgument};
constexpr ListRule kEnvironment{.maxItems = 256, .item = {.maxBytes = 32'768}};
constexpr TextRule kVariable{.minBytes = 1, .maxBytes = 256};
constexpr TextRule kStdin{.maxBytes = SIZE_MAX, .nul = TextRule::Nul::Allowed};
constexpr ListRule kFiles{.maxItems = 2000, .item = {.maxBytes = SIZE_MAX, .nul = TextRule::Nul::Allowed}};
constexpr TextRule kPath{.minBytes = 1, .maxBytes = 512};

bool isVariableName(std::string_view name)
{
    const auto isWordCharacter = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    };
    return !(name.front() >= '0' && name.front() <= '9') && std::ranges::all_of(name, isWordCharacter);
}

void readEnvironment(ObjectReader& in, std::map<std::string, std::string>& out)
{
    in.textMap("env", out, kEnvironment, kVariable);
    for (const auto& [name, value] : out)
        if (!isVariableName(name))
            in.refuse("env", "\"" + name + "\" is not a variable's name: letters, digits and _ only, no digit first");
}

void judgeCommand(ObjectReader& in, const RunCommand& command)
{
    const bool isFree = in.has("argv");
    const bool isScript = in.has("skill") || in.has("script");
    if (isFree == isScript)
        in.refuse("", "send either \"skill\" and \"script\", or \"argv\"");
    if (isFree && command.argv.empty())
        in.refuse("argv", "this list needs a program");
    if (isFree && (in.has("args") || in.has("input")))
        in.refuse("argv", "\"args\" and \"input\" go with a skill's script");
    if (isScript)
        in.require("skill").require("script");
    if (in.has("input") && in.has("stdin"))
        in.refuse("stdin", "\"input\" is standard input as JSON: send one of them");
}

void readRunCommand(ObjectReader& in, RunCommand& out)
{
    in.text("skill", out.skill, kName)
        .text("script", out.script, kPath)
        .texts("args", out.args, kArguments)
        .any("input", out.input)
        .text("stdin", out.stdinText, kStdin)
        .texts("argv", out.argv, kArguments);
    readEnvironment(in, out.env);
    judgeCommand(in, out);
}

void judgeRun(ObjectReader& in, const StartRun& run)
{
    if (in.has("agent") == in.has("skills"))
        in.refuse("", "send either \"agent\" or \"skills\"");
    if (in.has("revisions") && in.has("agent"))
        in.refuse("revisions", "an agent runs what is current: name the skills to pin revisions of them");
    for (const auto& [skill, revision] : run.revisions)
        if (!std::ranges::contains(run.skills, skill))
            in.refuse("revisions", "\"" + skill + "\" is not among the run's skills");
    if (in.has("subagent") && !in.has("agent"))
        in.refuse("subagent", "a subagent belongs to an agent: send \"agent\" too");
    if (run.command && run.session)
        in.refuse("session", "a session takes its commands at /v1/runs/{id}/commands: leave \"command\" out");
    if (!run.command && !run.session && !in.has("command"))
        in.refuse("", "send a \"command\", or \"session\": true");
}

} // namespace

Result<StartRun> readStartRun(const json::value& body)
{
    StartRun out;
    ObjectReader in(body);
    in.text("agent", out.agent, kName)
        .texts("skills", out.skills, {.maxItems = 200, .item = kName})
        .textMap("revisions", out.revisions, {.maxItems = 200, .item = kName}, kName)
        .text("subagent", out.subagent, kName)
        .object("command", [&](ObjectReader& command) { readRunCommand(command, out.command.emplace()); })
        .flag("session", out.session)
        .texts("outputs", out.outputs, {.maxItems = 100, .item = kPath})
        .object("limits", [&](ObjectReader& limits) { readLimits(limits, out.limits.emplace()); })
        .object("egress", [&](ObjectReader& egress) { readEgress(egress, out.egress.emplace()); })
        .textMap("files", out.files, kFiles, kPath)
        .text("driver", out.driver, {.minBytes = 1, .maxBytes = 64})
        .count("wait_ms", out.waitMs, 0, kMaxWaitMs);
    judgeRun(in, out);
    return in.finish(std::move(out));
}

Result<StartCommand> readStartCommand(const json::value& body)
{
    StartCommand out;
    ObjectReader in(body);
    in.texts("argv", out.argv, kArguments)
        .text("shell", out.shell, {.minBytes = 1, .maxBytes = kArgument.maxBytes})
        .text("subagent", out.subagent, kName)
        .text("stdin", out.stdinText, kStdin)
        .text("cwd", out.cwd, {.minBytes = 1, .maxBytes = 4096})
        .count("timeout_ms", out.timeoutMs, 1, 86'400'000)
        .count("wait_ms", out.waitMs, 0, kMaxWaitMs);
    readEnvironment(in, out.env);
    if (in.has("argv") == in.has("shell"))
        in.refuse("", "send either \"argv\" or \"shell\"");
    if (in.has("argv") && out.argv.empty() && !in.failed())
        in.refuse("argv", "this list needs a program");
    return in.finish(std::move(out));
}

} // namespace assay::contract
