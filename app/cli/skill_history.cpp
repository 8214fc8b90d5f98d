// SPDX-License-Identifier: Apache-2.0
#include "app/cli/command.h"

namespace assay::cli {

namespace {

struct Options
{
    std::string name;
    std::uint64_t limit = 200;
};

std::string describe(const json::value& page)
{
    TextTable table({"NO.", "REVISION", "STATE", "PUBLISHED", "BY", "DIGEST", "NOTE"});
    for (const json::value& one : itemsOf(page, "items"))
        table.add({std::to_string(numberOf(one, "number")), textOf(one, "id"), textOf(one, "state"),
                   textOf(one, "created_at"), textOf(one, "publisher"), textOf(one, "digest").substr(0, 19),
                   textOf(one, "note")});
    return table.text() + (memberOf(page, "next_page_token") ? "there are more; raise --limit\n" : "");
}

Result<int> history(Context& context, const Options& options)
{
    auto api = context.api();
    if (!api)
        return forward(api);
    auto page = (*api)->list(pathOf({"v1", "skills", options.name, "revisions"}), {}, options.limit);
    if (!page)
        return forward(page);
    context.print(*page, describe);
    return kDone;
}

} // namespace

void addSkillHistory(Command& parent, Context& context)
{
    auto options = std::make_shared<Options>();
    Command command = parent.add("history", "List a skill's revisions, newest first");
    command.required("NAME", options->name);
    command.number("--limit", options->limit, "Most to list", 1, 100'000);
    onCommand(command, context, std::move(options), history);
}

} // namespace assay::cli
