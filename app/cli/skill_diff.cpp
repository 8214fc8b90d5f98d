// SPDX-License-Identifier: Apache-2.0
#include "app/cli/command.h"

namespace assay::cli {

namespace {

struct Options
{
    std::string name;
    std::string from;
    std::string to;
};

std::string hunkText(const json::value& hunk)
{
    std::string out = plain(textOf(hunk, "header")) + '\n';
    for (const json::value& line : itemsOf(hunk, "lines")) {
        const std::string kind = textOf(line, "kind");
        out += kind == "add" || kind == "added" ? '+' : kind == "remove" || kind == "removed" ? '-' : ' ';
        out += plain(textOf(line, "text")) + '\n';
    }
    return out;
}

std::string describe(const json::value& diff)
{
    std::string out;
    for (const json::value& file : itemsOf(diff, "files")) {
        out += plain(textOf(file, "status")) + ' ' + plain(textOf(file, "path")) + '\n';
        for (const json::value& hunk : itemsOf(file, "hunks"))
            out += hunkText(hunk);
    }
    return out.empty() ? "no difference\n" : out;
}

Result<int> diff(Context& context, const Options& options)
{
    auto api = context.api();
    if (!api)
        return forward(api);
    auto answer = (*api)->get(pathOf({"v1", "skills", options.name, "diff"}) +
                              queryOf({{"from", options.from}, {"to", options.to}}));
    if (!answer)
        return forward(answer);
    context.print(answer->body, describe);
    return kDone;
}

} // namespace

void addSkillDiff(Command& parent, Context& context)
{
    auto options = std::make_shared<Options>();
    options->to = "current";
    Command command = parent.add("diff", "Compare two revisions of a skill");
    command.required("NAME", options->name);
    command.required("FROM", options->from, "Id of the older revision");
    command.option("TO", options->to, "Id of the newer revision");
    onCommand(command, context, std::move(options), diff);
}

} // namespace assay::cli
