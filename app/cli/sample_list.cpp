// SPDX-License-Identifier: Apache-2.0
#include "app/cli/command.h"

namespace assay::cli {

namespace {

struct Options
{
    std::string skill;
};

std::string describe(const json::value& page)
{
    TextTable table({"SAMPLE", "SCRIPT", "ARGUMENTS", "BY", "CHANGED"});
    for (const json::value& one : itemsOf(page, "items"))
        table.add({textOf(one, "name"), textOf(one, "script"), joined(one, "args"), textOf(one, "author"),
                   textOf(one, "updated_at")});
    return table.hasRows() ? table.text() : "no samples\n";
}

Result<int> list(Context& context, const Options& options)
{
    auto api = context.api();
    if (!api)
        return forward(api);
    auto answer = (*api)->get(pathOf({"v1", "skills", options.skill, "samples"}));
    if (!answer)
        return forward(answer);
    context.print(answer->body, describe);
    return kDone;
}

} // namespace

void addSampleList(Command& parent, Context& context)
{
    auto options = std::make_shared<Options>();
    Command command = parent.add("list", "List a skill's saved inputs");
    command.required("SKILL", options->skill);
    onCommand(command, context, std::move(options), list);
}

} // namespace assay::cli
