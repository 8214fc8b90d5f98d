// SPDX-License-Identifier: Apache-2.0
#include "app/cli/command.h"

namespace assay::cli {

namespace {

struct Options
{
    std::string digest;
    std::string reason;
};

Result<int> add(Context& context, const Options& options)
{
    auto api = context.api();
    if (!api)
        return forward(api);
    auto answer = (*api)->post("/v1/stops", {{"digest", options.digest}, {"reason", options.reason}});
    if (!answer)
        return forward(answer);
    context.print(answer->body, [](const json::value& stop) {
        return "stopped " + plain(textOf(stop, "digest")) + " in every scope; " +
               std::to_string(numberOf(stop, "stopped_runs")) + " runs were cancelled\n";
    });
    return kDone;
}

} // namespace

void addStopAdd(Command& parent, Context& context)
{
    auto options = std::make_shared<Options>();
    Command command = parent.add("add", "Stop content in every scope and cancel what runs it");
    command.required("DIGEST", options->digest);
    command.required("--reason", options->reason, "Why; shown to whoever is refused");
    onCommand(command, context, std::move(options), add);
}

} // namespace assay::cli
