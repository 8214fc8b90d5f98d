// SPDX-License-Identifier: Apache-2.0
#include "app/cli/command.h"

namespace assay::cli {

namespace {

struct Options
{
    std::string state;
    std::string skill;
    std::string publisher;
    std::uint64_t limit = 200;
};

std::string describe(const json::value& page)
{
    TextTable table({"PROPOSAL", "SKILL", "NO.", "STATE", "BY", "OPENED", "COMMENTS", "NOTE"});
    for (const json::value& one : itemsOf(page, "items"))
        table.add({textOf(one, "id"), textOf(one, "skill"), std::to_string(numberOf(one, "number")),
                   textOf(one, "state"), textOf(one, "publisher"), textOf(one, "created_at"),
                   std::to_string(numberOf(one, "comment_count")), textOf(one, "note")});
    return (table.hasRows() ? table.text() : "no proposals\n") +
           (memberOf(page, "next_page_token") ? "there are more; raise --limit\n" : "");
}

Result<int> list(Context& context, const Options& options)
{
    auto api = context.api();
    if (!api)
        return forward(api);
    auto page = (*api)->list("/v1/proposals",
                             {{"state", options.state}, {"skill", options.skill}, {"publisher", options.publisher}},
                             options.limit);
    if (!page)
        return forward(page);
    context.print(*page, describe);
    return kDone;
}

} // namespace

void addProposalList(Command& parent, Context& context)
{
    auto options = std::make_shared<Options>();
    Command command = parent.add("list", "List proposals, newest first");
    command.choice("--state", options->state, "Only these",
                   {"open", "approved", "promoted", "superseded", "withdrawn"});
    command.option("--skill", options->skill, "Only of this skill");
    command.option("--publisher", options->publisher, "Only of this person");
    command.number("--limit", options->limit, "Most to list", 1, 100'000);
    onCommand(command, context, std::move(options), list);
}

} // namespace assay::cli
