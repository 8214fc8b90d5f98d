// SPDX-License-Identifier: Apache-2.0
#include "app/cli/script_input.h"

#include <thread>

namespace assay::cli {

namespace {

constexpr std::chrono::milliseconds kBetweenLooks{250};

struct Options
{
    std::string name;
    std::string from;
    std::string to;
    std::string sample;
    ScriptInputOptions input;
    std::uint64_t waitSeconds = 600;
};

std::string runLine(const json::value& comparison, std::string_view side)
{
    const std::string at = std::string(side) + ".";
    const auto& commands = itemsOf(comparison, at + "run.commands");
    std::string out = plain(textOf(comparison, at + "revision")) + "  " + plain(textOf(comparison, at + "run.id")) +
                      "  " + plain(textOf(comparison, at + "run.state"));
    if (!commands.empty())
        out += ", exit " + std::to_string(numberOf(commands.front(), "exit_code")) + ", " +
               durationText(numberOf(commands.front(), "wall_ms"));
    return "  " + std::string(side) + (side == "to" ? "    " : "  ") + out + '\n';
}

std::string streamLine(const json::value& comparison, std::string_view stream)
{
    const std::string at(stream);
    std::string out = "  " + at + ": " + (isTrue(comparison, at + ".equal") ? "equal" : "differs") + '\n';
    for (const json::value& difference : itemsOf(comparison, at + ".differences")) {
        const json::value* from = memberOf(difference, "from");
        const json::value* to = memberOf(difference, "to");
        out += "    " + plain(textOf(difference, "pointer")) + ": " +
               (from ? plain(json::serialize(*from)) : "absent") + " -> " +
               (to ? plain(json::serialize(*to)) : "absent") + '\n';
    }
    return out;
}

std::string describe(const json::value& comparison)
{
    const bool ended = textOf(comparison, "state") == "ended";
    std::string out = plain(textOf(comparison, "id")) + ": " +
                      (!ended                        ? "still running"
                       : isTrue(comparison, "equal") ? "equal"
                                                     : "they differ") +
                      '\n' + runLine(comparison, "from") + runLine(comparison, "to");
    if (!ended)
        return out;
    out += streamLine(comparison, "stdout") + streamLine(comparison, "stderr");
    for (const json::value& pair : itemsOf(comparison, "artifacts"))
        out += "  " + plain(textOf(pair, "path")) + ": " + plain(textOf(pair, "status")) + '\n';
    return out;
}

/// Looks until both runs have ended, the time is over or the user interrupts.
Result<json::value> awaitEnd(Context& context, const Options& options, json::value comparison)
{
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(options.waitSeconds);
    const std::string target = pathOf({"v1", "skills", options.name, "comparisons", textOf(comparison, "id")});
    while (textOf(comparison, "state") != "ended" && std::chrono::steady_clock::now() < end) {
        if (context.interrupted() && context.interrupted()->load())
            break;
        std::this_thread::sleep_for(kBetweenLooks);
        auto api = context.api();
        if (!api)
            return forward(api);
        auto answer = (*api)->get(target);
        if (!answer)
            return forward(answer);
        comparison = std::move(answer->body);
    }
    return comparison;
}

Result<int> compare(Context& context, const Options& options)
{
    auto api = context.api();
    if (!api)
        return forward(api);
    auto body = scriptInputBody(options.input);
    if (!body)
        return forward(body);
    (*body)["from"] = options.from;
    (*body)["to"] = options.to;
    if (!options.sample.empty())
        (*body)["sample"] = options.sample;
    auto started = (*api)->post(pathOf({"v1", "skills", options.name, "comparisons"}), *body);
    if (!started)
        return forward(started);
    auto comparison = awaitEnd(context, options, std::move(started->body));
    if (!comparison)
        return forward(comparison);
    context.print(*comparison, describe);
    return isTrue(*comparison, "equal") ? kDone : kFailed;
}

} // namespace

void addSkillCompare(Command& parent, Context& context)
{
    auto options = std::make_shared<Options>();
    Command command = parent.add("compare", "Run two revisions on one input; exits 1 when they differ");
    command.required("NAME", options->name);
    command.required("FROM", options->from, "Id from `assayctl skill history`, or current");
    command.required("TO", options->to, "Likewise");
    command.option("--sample", options->sample, "Saved input; or --script with its input");
    addScriptInputOptions(command, options->input);
    command.number("--wait", options->waitSeconds, "Seconds to wait for the ends", 0, 86'400);
    command.exclude("--sample", "--script");
    onCommand(command, context, std::move(options), compare);
}

} // namespace assay::cli
