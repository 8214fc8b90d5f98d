// SPDX-License-Identifier: Apache-2.0
#include "app/cli/command.h"

namespace assay::cli {

namespace {

struct Options
{
    bool dryRun = false;
};

std::string describe(const json::value& report)
{
    TextTable table({"KIND", isTrue(report, "dry_run") ? "WOULD GO" : "REMOVED", "SIZE", "NOTE"});
    for (const json::value& kind : itemsOf(report, "kinds")) {
        std::string note = textOf(kind, "problem");
        if (note.empty() && !isTrue(kind, "complete"))
            note = "cut; the next collection goes on";
        table.add({textOf(kind, "kind"), std::to_string(numberOf(kind, "count")),
                   sizeText(numberOf(kind, "size_bytes")), note});
    }
    return table.text();
}

Result<int> collect(Context& context, const Options& options)
{
    auto api = context.api();
    if (!api)
        return forward(api);
    context.console.progress("collecting");
    auto answer = (*api)->post("/v1/collections", json::object{{"dry_run", options.dryRun}}, std::chrono::minutes(10));
    context.console.endProgress();
    if (!answer)
        return forward(answer);
    context.print(answer->body, describe);
    return isTrue(answer->body, "complete") ? kDone : kFailed;
}

} // namespace

void addCollect(Command& parent, Context& context)
{
    auto options = std::make_shared<Options>();
    Command command = parent.add("collect", "Remove what is past its retention and what nothing names any more; exit "
                                            "status 1 when it was cut and should be asked for again");
    command.flag("--dry-run", options->dryRun, "Say what would go, and remove nothing");
    onCommand(command, context, std::move(options), collect);
}

} // namespace assay::cli
