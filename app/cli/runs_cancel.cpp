// SPDX-License-Identifier: Apache-2.0
#include "app/cli/command.h"
#include "app/cli/run_output.h"

namespace assay::cli {

namespace {

struct Options
{
    std::string run;
};

Result<int> cancel(Context& context, const Options& options)
{
    auto api = context.api();
    if (!api)
        return forward(api);
    auto answer = (*api)->post(pathOf({"v1", "runs", options.run, "cancel"}), json::object());
    if (!answer)
        return forward(answer);
    context.print(answer->body, describeRun);
    return kDone;
}

} // namespace

void addRunsCancel(Command& parent, Context& context)
{
    auto options = std::make_shared<Options>();
    Command command = parent.add("cancel", "Stop a run now");
    command.required("RUN", options->run);
    onCommand(command, context, std::move(options), cancel);
}

} // namespace assay::cli
