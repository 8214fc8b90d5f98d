// SPDX-License-Identifier: Apache-2.0
#include "app/cli/command.h"

namespace assay::cli {

namespace {

struct Options
{
    std::string name;
    std::string revision;
    std::string reason;
    bool stopRuns = false; ///< cancel what runs it, too
};

std::string told(const Options& options, const json::value& revision)
{
    const std::string what = "revision " + std::to_string(numberOf(revision, "number")) + " of " + plain(options.name) +
                             ": new runs refuse it, ";
    if (!options.stopRuns)
        return "withdrew " + what + "pinned ones keep it\n";
    return "stopped " + what + std::to_string(numberOf(revision, "stopped_runs")) + " runs were cancelled\n";
}

Result<int> withdraw(Context& context, const Options& options)
{
    auto api = context.api();
    if (!api)
        return forward(api);
    json::object body{{"reason", options.reason}};
    if (options.stopRuns)
        body["stop_runs"] = true;
    auto answer = (*api)->post(pathOf({"v1", "skills", options.name, "revisions", options.revision, "withdraw"}),
                               std::move(body));
    if (!answer)
        return forward(answer);
    context.print(answer->body, [&](const json::value& revision) { return told(options, revision); });
    return kDone;
}

void addOne(Command command, Context& context, bool stopRuns)
{
    auto options = std::make_shared<Options>();
    options->stopRuns = stopRuns;
    command.required("NAME", options->name);
    command.required("REVISION", options->revision, "Id from `assayctl skill history`, or current");
    command.required("--reason", options->reason, "Why, for the history");
    onCommand(command, context, std::move(options), withdraw);
}

} // namespace

void addSkillWithdraw(Command& parent, Context& context)
{
    addOne(parent.add("withdraw", "Refuse a revision for new runs"), context, false);
}

void addSkillStop(Command& parent, Context& context)
{
    addOne(parent.add("stop", "Withdraw a revision and cancel every run that pins it"), context, true);
}

} // namespace assay::cli
