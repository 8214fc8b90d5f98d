// SPDX-License-Identifier: Apache-2.0
#include "app/cli/command.h"

namespace assay::cli {

namespace {

struct Options
{
    std::string id;
};

std::string describe(const json::value& page)
{
    TextTable table({"SAMPLE", "RUN", "STATE", "REASON"});
    for (const json::value& one : itemsOf(page, "items"))
        table.add({textOf(one, "sample"), textOf(one, "run"), textOf(one, "state"), textOf(one, "reason")});
    return table.text() + "read the proposal again for the check test_run\n";
}

Result<int> test(Context& context, const Options& options)
{
    auto api = context.api();
    if (!api)
        return forward(api);
    auto answer = (*api)->post(pathOf({"v1", "proposals", options.id, "test-runs"}), json::object());
    if (!answer)
        return forward(answer);
    context.print(answer->body, describe);
    for (const json::value& one : itemsOf(answer->body, "items"))
        if (textOf(one, "state") == "refused")
            return kFailed;
    return kDone;
}

} // namespace

void addProposalTest(Command& parent, Context& context)
{
    auto options = std::make_shared<Options>();
    Command command = parent.add("test", "Run every saved sample input with exactly this revision");
    command.required("ID", options->id);
    onCommand(command, context, std::move(options), test);
}

} // namespace assay::cli
