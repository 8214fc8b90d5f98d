// SPDX-License-Identifier: Apache-2.0
#include "app/cli/command.h"
#include "app/cli/run_output.h"
#include "server/core/base64.h"
#include "server/core/text.h"

namespace assay::cli {

namespace {

constexpr std::uint64_t kInputBytes = 16ULL << 20;
constexpr std::uint64_t kFirstWaitMs = 300; // most commands end sooner: their output comes with the first answer

struct Options
{
    std::string run;
    std::vector<std::string> argv;
    std::string shell;
    std::string standardInput;
    std::string cwd;
    std::uint64_t timeoutSeconds = 0;
};

Result<json::object> bodyOf(const Options& options)
{
    if (options.argv.empty() == options.shell.empty())
        return fail(ErrorCode::InvalidArgument, "say what to execute: -- COMMAND ARG ..., or --shell TEXT");
    json::object body{{"wait_ms", kFirstWaitMs}};
    if (options.argv.empty())
        body["shell"] = options.shell;
    else
        body["argv"] = json::value_from(options.argv);
    if (!options.standardInput.empty()) {
        auto text = readInput(options.standardInput, kInputBytes);
        if (!text)
            return forward(text);
        if (!isUtf8(*text))
            return fail(ErrorCode::InvalidArgument, "what --stdin sends must be UTF-8 text");
        body["stdin"] = *text;
    }
    if (!options.cwd.empty())
        body["cwd"] = options.cwd;
    if (options.timeoutSeconds)
        body["timeout_ms"] = options.timeoutSeconds * 1000;
    return body;
}

std::string outputOf(const json::value& command, const std::string& stream)
{
    if (const auto* text = memberOf(command, stream); text && text->is_string())
        return std::string(text->get_string());
    return fromBase64(textOf(command, stream + "_base64")).value_or("");
}

std::function<bool(const StreamEvent&)> untilEnded(const std::string& id)
{
    return [id](const StreamEvent& event) {
        auto data = parseJson(event.data);
        return !(data && event.type == "command" && textOf(*data, "command") == id &&
                 textOf(*data, "state") == "ended");
    };
}

Result<json::value> followToEnd(Context& context, ApiClient& api, const Options& options, const std::string& id)
{
    if (!context.asJson()) {
        if (auto followed = RunOutput(context, api, options.run, id).follow(); !followed)
            return forward(followed);
    } else if (auto waited = api.events(pathOf({"v1", "runs", options.run, "events"}), untilEnded(id)); !waited) {
        return forward(waited);
    }
    auto ended = api.get(pathOf({"v1", "runs", options.run, "commands", id}));
    if (!ended)
        return forward(ended);
    return std::move(ended->body);
}

Result<int> execute(Context& context, const Options& options)
{
    auto body = bodyOf(options);
    if (!body)
        return forward(body);
    auto api = context.api();
    if (!api)
        return forward(api);
    auto started = (*api)->post(pathOf({"v1", "runs", options.run, "commands"}), *body);
    if (!started)
        return forward(started);
    json::value command = std::move(started->body);
    const bool quick = textOf(command, "state") == "ended";
    if (!quick) {
        auto ended = followToEnd(context, **api, options, textOf(command, "id"));
        if (!ended)
            return forward(ended);
        command = std::move(*ended);
    }
    if (context.asJson()) {
        context.console.out(prettyJson(command));
    } else {
        if (quick) {
            context.console.out(outputOf(command, "stdout"));
            context.console.error(outputOf(command, "stderr"));
        }
        context.console.error(cutOffText(command));
    }
    return exitStatusOf(command);
}

} // namespace

void addExec(Command& parent, Context& context)
{
    auto options = std::make_shared<Options>();
    Command command = parent.add("exec", "Execute a command in a session's box");
    command.required("RUN", options->run, "Id of a run started with --session");
    command.list("COMMAND", options->argv, "The command and its arguments, after --");
    command.option("--shell", options->shell, "A line for the box's shell instead");
    command.option("--stdin", options->standardInput, "Text file for standard input, or -");
    command.option("--cwd", options->cwd, "Folder in the box; /workspace when absent");
    command.number("--timeout", options->timeoutSeconds, "Most seconds", 1, 86'400);
    onCommand(command, context, std::move(options), execute);
}

} // namespace assay::cli
