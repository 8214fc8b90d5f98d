// SPDX-License-Identifier: Apache-2.0
#include "app/cli/command.h"
#include "app/cli/run_output.h"
#include "app/cli/script_input.h"

#include <thread>

namespace assay::cli {

namespace {

constexpr std::uint64_t kInputBytes = 16ULL << 20;

struct Options
{
    std::string skill;
    std::string script;
    std::vector<std::string> arguments;
    std::string revision;
    std::string agent;
    std::string subagent;
    bool session = false;
    std::string input;
    std::string standardInput;
    std::vector<std::string> outputs;
    std::string driver;
    std::string egress;
    std::vector<std::string> hosts;
    std::uint64_t wallSeconds = 0;
    std::uint64_t memoryBytes = 0;
    std::uint64_t outputBytes = 0;
    std::string outputMode;
    std::vector<std::string> environment;
    bool quiet = false;
};

Result<void> addEnvironment(json::object& command, const std::vector<std::string>& pairs)
{
    json::object out;
    for (const std::string& pair : pairs) {
        const std::size_t equals = pair.find('=');
        if (equals == std::string::npos || equals == 0)
            return fail(ErrorCode::InvalidArgument, "write --env as NAME=VALUE: " + pair);
        out[pair.substr(0, equals)] = pair.substr(equals + 1);
    }
    if (!out.empty())
        command["env"] = std::move(out);
    return {};
}

void addLimits(json::object& body, const Options& options)
{
    json::object limits;
    if (options.wallSeconds)
        limits["wall_ms"] = options.wallSeconds * 1000;
    if (options.memoryBytes)
        limits["memory_bytes"] = options.memoryBytes;
    if (options.outputBytes)
        limits["output_bytes"] = options.outputBytes;
    if (!options.outputMode.empty())
        limits["output_mode"] = options.outputMode;
    if (!limits.empty())
        body["limits"] = std::move(limits);
    if (!options.egress.empty())
        body["egress"] = json::object{{"tier", options.egress}, {"allowlist", json::value_from(options.hosts)}};
}

Result<json::object> bodyOf(const Options& options)
{
    if (options.agent.empty() && options.skill.empty())
        return fail(ErrorCode::InvalidArgument, "say what to run: SKILL SCRIPT, or --agent AGENT with --session");
    if (options.script.empty() && !options.session)
        return fail(ErrorCode::InvalidArgument, "say which SCRIPT of the skill to run, or --session");
    json::object body;
    if (options.agent.empty())
        body["skills"] = json::array{json::value(options.skill)};
    else
        body["agent"] = options.agent;
    if (!options.revision.empty())
        body["revisions"] = json::object{{options.skill, options.revision}};
    if (!options.subagent.empty())
        body["subagent"] = options.subagent;
    if (!options.script.empty()) {
        json::object command{{"skill", options.skill}, {"script", options.script}};
        if (!options.arguments.empty())
            command["args"] = json::value_from(options.arguments);
        if (auto added = addStandardInput(command, options.input, options.standardInput, kInputBytes); !added)
            return forward(added);
        if (auto added = addEnvironment(command, options.environment); !added)
            return forward(added);
        body["command"] = std::move(command);
    }
    if (options.session)
        body["session"] = true;
    if (!options.outputs.empty())
        body["outputs"] = json::value_from(options.outputs);
    if (!options.driver.empty())
        body["driver"] = options.driver;
    addLimits(body, options);
    return body;
}

bool isLive(const json::value& run)
{
    const std::string state = textOf(run, "state");
    return state != "succeeded" && state != "failed" && state != "cancelled" && state != "refused";
}

/// Reads the run until it has ended; the event stream ends when its last phase does, so one look is the rule.
Result<json::value> waitForEnd(Context& context, ApiClient& api, const std::string& id)
{
    for (auto pause = std::chrono::milliseconds(5);; pause = std::min(pause * 2, std::chrono::milliseconds(1000))) {
        auto run = api.get(pathOf({"v1", "runs", id}));
        if (!run)
            return forward(run);
        if (!isLive(run->body))
            return std::move(run->body);
        if (context.interrupted() && context.interrupted()->load())
            return fail(ErrorCode::Cancelled, "interrupted; the run " + id + " goes on");
        std::this_thread::sleep_for(pause);
    }
}

int statusOf(const json::value& run)
{
    const json::array& commands = itemsOf(run, "commands");
    const std::string state = textOf(run, "state");
    if (state == "refused")
        return kRefused;
    if (commands.empty())
        return state == "succeeded" ? kDone : kFailed;
    const int status = exitStatusOf(commands[0]);
    return status == kDone && state != "succeeded" ? kFailed : status;
}

/// Tells the server to stop the run when the user interrupts: what nobody waits for should not go on.
std::unexpected<Error> cancelRun(Context& context, const std::string& id)
{
    HttpClient http(loadSettings(context.flags, [](const char* name) { return std::getenv(name); }).value(), nullptr);
    ApiClient api(http);
    auto cancelled = api.post(pathOf({"v1", "runs", id, "cancel"}), json::object(), std::chrono::seconds(10));
    return fail(ErrorCode::Cancelled, cancelled ? "interrupted; the run " + id + " is cancelled"
                                                : "interrupted; the run " + id + " could not be cancelled");
}

Result<int> finishOneShot(Context& context, ApiClient& api, const Options& options, const std::string& id)
{
    if (!context.asJson()) {
        auto followed = RunOutput(context, api, id, {}).follow();
        context.console.endProgress();
        if (!followed && followed.error().code == ErrorCode::Cancelled)
            return cancelRun(context, id);
        if (!followed)
            return forward(followed);
    }
    auto run = waitForEnd(context, api, id);
    if (!run && run.error().code == ErrorCode::Cancelled)
        return cancelRun(context, id);
    if (!run)
        return forward(run);
    if (context.asJson()) {
        context.console.out(prettyJson(*run));
    } else {
        for (const json::value& command : itemsOf(*run, "commands"))
            context.console.error(cutOffText(command));
        if (!options.quiet)
            context.console.error(describeRun(*run));
    }
    return statusOf(*run);
}

Result<int> run(Context& context, const Options& options)
{
    auto body = bodyOf(options);
    if (!body)
        return forward(body);
    auto api = context.api();
    if (!api)
        return forward(api);
    auto started = (*api)->post("/v1/runs", *body);
    if (!started)
        return forward(started);
    const std::string id = textOf(started->body, "id");
    if (!options.session)
        return finishOneShot(context, **api, options, id);
    context.print(started->body, [&](const json::value& value) {
        return describeRun(value) + "go on with:\n  assayctl exec " + id + " -- COMMAND\n  assayctl finish " + id +
               '\n';
    });
    return kDone;
}

void addLimitOptions(Command& command, const std::shared_ptr<Options>& options)
{
    command.number("--timeout", options->wallSeconds, "Most seconds that a command may take", 1, 86'400);
    command.size("--memory", options->memoryBytes, "Most memory, for example 512MB");
    command.size("--output-limit", options->outputBytes, "Most bytes kept of each output stream");
    command.choice("--output-mode", options->outputMode, "Above that: drop the middle, or end the command",
                   {"truncate", "terminate"});
    command.choice("--egress", options->egress, "Network tier", {"none", "default_internet", "allowlist"});
    command.list("--allow", options->hosts, "HOST of the allowlist; repeat for more");
}

} // namespace

void addRun(Command& parent, Context& context)
{
    auto options = std::make_shared<Options>();
    Command command = parent.add("run", "Run a skill's script in a box: its output here, its exit status this one's");
    command.option("SKILL", options->skill, "Name of the skill");
    command.option("SCRIPT", options->script, "Path of the script in the skill");
    command.list("ARG", options->arguments, "Arguments of the script, after --");
    command.option("--revision", options->revision, "Run this revision instead of the current one");
    command.option("--agent", options->agent, "Run with this agent's skills and grants");
    command.option("--subagent", options->subagent, "A subagent of it: only with its skills");
    command.flag("--session", options->session, "Keep the box for `assayctl exec`");
    command.option("--input", options->input, "JSON file for standard input, or - for this one's");
    command.option("--stdin", options->standardInput, "Text file for standard input, or -");
    command.exclude("--stdin", "--input");
    command.list("--output", options->outputs, "Glob below /workspace/out to keep; repeat for more; all when absent");
    command.option("--driver", options->driver, "Kind of box; the server's choice when absent");
    command.list("--env", options->environment, "NAME=VALUE for the script; repeat for more");
    addLimitOptions(command, options);
    command.flag("-q,--quiet", options->quiet, "Print the script's output only");
    onCommand(command, context, std::move(options), run);
}

} // namespace assay::cli
