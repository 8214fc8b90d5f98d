// SPDX-License-Identifier: Apache-2.0
#include "app/cli/command.h"

namespace assay::cli {

namespace {

struct Options
{
    std::string name;
    std::string revision;
    std::string reason;
};

Result<int> stop(Context& context, const Options& options)
{
    auto api = context.api();
    if (!api)
        return forward(api);
    auto answer = (*api)->post(pathOf({"v1", "skills", options.name, "revisions", options.revision, "withdraw"}),
                               {{"reason", options.reason}, {"stop_runs", true}});
    if (!answer)
        return forward(answer);
    context.print(answer->body, [&](const json::value& revision) {
        return "stopped revision " + std::to_string(numberOf(revision, "number")) + " of " + plain(options.name) +
               ": new runs refuse it, " + std::to_string(numberOf(revision, "stopped_runs")) + " runs were cancelled\n";
    });
    return kDone;
}

} // namespace

void addSkillStop(Command& parent, Context& context)
{
    auto options = std::make_shared<Options>();
    Command command = parent.add("stop", "Withdraw a revision and cancel every run that pins it");
    command.required("NAME", options->name);
    command.required("REVISION", options->revision, "Id from `assayctl skill history`, or current");
    command.required("--reason", options->reason, "Why, for the history");
    onCommand(command, context, std::move(options), stop);
}

} // namespace assay::cli
