// SPDX-License-Identifier: Apache-2.0
#include "app/cli/command.h"
#include "app/cli/run_output.h"

namespace assay::cli {

namespace {

struct Options
{
    std::string run;
};

std::string describe(const json::value& run)
{
    std::string out = describeRun(run);
    TextTable commands({"COMMAND", "STATE", "ENDED BY", "EXIT", "TIME", "OUTPUT", "DROPPED"});
    for (const json::value& one : itemsOf(run, "commands"))
        commands.add({textOf(one, "id"), textOf(one, "state"), textOf(one, "termination"),
                      memberOf(one, "exit_code") ? json::serialize(*memberOf(one, "exit_code")) : "",
                      durationText(numberOf(one, "wall_ms")),
                      sizeText(numberOf(one, "stdout_bytes") + numberOf(one, "stderr_bytes")),
                      sizeText(numberOf(one, "dropped_bytes"))});
    if (commands.hasRows())
        out += commands.text();
    TextTable phases({"PHASE", "FROM", "TO"});
    for (const json::value& one : itemsOf(run, "phases"))
        phases.add({textOf(one, "name"), textOf(one, "started_at"), textOf(one, "ended_at")});
    return phases.hasRows() ? out + phases.text() : out;
}

Result<int> show(Context& context, const Options& options)
{
    auto api = context.api();
    if (!api)
        return forward(api);
    auto run = (*api)->get(pathOf({"v1", "runs", options.run}));
    if (!run)
        return forward(run);
    context.print(run->body, describe);
    return kDone;
}

} // namespace

void addRunsShow(Command& parent, Context& context)
{
    auto options = std::make_shared<Options>();
    Command command = parent.add("show", "Show a run: what was pinned, how it went, what came out");
    command.required("RUN", options->run);
    onCommand(command, context, std::move(options), show);
}

} // namespace assay::cli
