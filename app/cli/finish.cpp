// SPDX-License-Identifier: Apache-2.0
#include "app/cli/command.h"
#include "app/cli/run_output.h"

namespace assay::cli {

namespace {

struct Options
{
    std::string run;
};

Result<int> finish(Context& context, const Options& options)
{
    auto api = context.api();
    if (!api)
        return forward(api);
    auto asked = (*api)->post(pathOf({"v1", "runs", options.run, "finish"}), json::object());
    if (!asked)
        return forward(asked);
    context.console.progress("collecting");
    auto ended = (*api)->events(pathOf({"v1", "runs", options.run, "events"}),
                                [](const StreamEvent& event) { return event.type != "end"; });
    if (!ended)
        return forward(ended);
    auto run = (*api)->get(pathOf({"v1", "runs", options.run}));
    if (!run)
        return forward(run);
    context.print(run->body, describeRun);
    return textOf(run->body, "state") == "succeeded" ? kDone : kFailed;
}

} // namespace

void addFinish(Command& parent, Context& context)
{
    auto options = std::make_shared<Options>();
    Command command = parent.add("finish", "End a session: collect its outputs and destroy its box");
    command.required("RUN", options->run);
    onCommand(command, context, std::move(options), finish);
}

} // namespace assay::cli
