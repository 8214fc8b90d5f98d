// SPDX-License-Identifier: Apache-2.0
#include "app/cli/command.h"

namespace assay::cli {

namespace {

struct Options
{
    std::string name;
    std::string revision;
};

std::string describe(const json::value& report)
{
    TextTable table({"KIND", "WHAT", "WHERE", "RULE"});
    for (const json::value& item : itemsOf(report, "items")) {
        const auto line = numberOf(item, "line");
        table.add({textOf(item, "kind"), textOf(item, "value"),
                   textOf(item, "path") + (line > 0 ? ":" + std::to_string(line) : ""), textOf(item, "rule")});
    }
    std::string out = table.hasRows() ? table.text() : "nothing was found\n";
    if (const auto more = numberOf(report, "left_out"); more > 0)
        out += std::to_string(more) + " more are not listed\n";
    return out + plain(textOf(report, "notice")) + '\n';
}

Result<int> show(Context& context, const Options& options)
{
    auto api = context.api();
    if (!api)
        return forward(api);
    auto answer = (*api)->get(pathOf({"v1", "skills", options.name, "revisions", options.revision, "capabilities"}));
    if (!answer)
        return forward(answer);
    context.print(answer->body, describe);
    return kDone;
}

} // namespace

void addSkillCapabilities(Command& parent, Context& context)
{
    auto options = std::make_shared<Options>();
    options->revision = "current";
    Command command = parent.add("capabilities", "Show what a revision can do, as far as reading tells");
    command.required("NAME", options->name);
    command.option("REVISION", options->revision, "Id of a revision");
    onCommand(command, context, std::move(options), show);
}

} // namespace assay::cli
