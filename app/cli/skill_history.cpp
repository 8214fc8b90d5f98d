// SPDX-License-Identifier: Apache-2.0
#include "app/cli/command.h"

namespace assay::cli {

namespace {

struct Options
{
    std::string name;
    std::uint64_t limit = 200;
    bool promotions = false;
    std::string at;
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

std::string nameOf(const json::value& promotion, std::string_view side)
{
    const std::uint64_t number = numberOf(promotion, std::string(side) + ".number");
    return number ? std::to_string(number) : "-";
}

std::string describeMoves(const json::value& page)
{
    TextTable table({"AT", "FROM", "TO", "REVISION", "VIA", "BY", "REASON"});
    for (const json::value& one : itemsOf(page, "items"))
        table.add({textOf(one, "at"), nameOf(one, "from"), nameOf(one, "to"), textOf(one, "to.revision"),
                   textOf(one, "via"), textOf(one, "by"), textOf(one, "reason")});
    return (table.hasRows() ? table.text() : "none was current then\n") +
           (memberOf(page, "next_page_token") ? "there are more; raise --limit\n" : "");
}

Result<int> history(Context& context, const Options& options)
{
    auto api = context.api();
    if (!api)
        return forward(api);
    if (options.promotions || !options.at.empty()) {
        auto moves =
            (*api)->list(pathOf({"v1", "skills", options.name, "promotions"}), {{"at", options.at}}, options.limit);
        if (!moves)
            return forward(moves);
        context.print(*moves, describeMoves);
        return kDone;
    }
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
    command.flag("--promotions", options->promotions, "What was current when, by whom and why, instead");
    command.option("--at", options->at, "What was current at this time, as in 2026-11-30T12:00:00Z");
    onCommand(command, context, std::move(options), history);
}

} // namespace assay::cli
