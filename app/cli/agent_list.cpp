// SPDX-License-Identifier: Apache-2.0
#include "app/cli/command.h"

namespace assay::cli {

namespace {

struct Options
{
    std::uint64_t limit = 200;
};

std::string describe(const json::value& page)
{
    TextTable table({"NAME", "SKILLS", "EXECUTION", "EGRESS", "CHANGED"});
    for (const json::value& agent : itemsOf(page, "items"))
        table.add({textOf(agent, "name"), joined(agent, "skills"), textOf(agent, "execution"),
                   textOf(agent, "egress.tier"), textOf(agent, "updated_at")});
    return table.hasRows() ? table.text() : "no agents\n";
}

Result<int> list(Context& context, const Options& options)
{
    auto api = context.api();
    if (!api)
        return forward(api);
    auto page = (*api)->list("/v1/agents", {}, options.limit);
    if (!page)
        return forward(page);
    context.print(*page, describe);
    return kDone;
}

} // namespace

void addAgentList(Command& parent, Context& context)
{
    auto options = std::make_shared<Options>();
    Command command = parent.add("list", "List the agents of the token's scope");
    command.number("--limit", options->limit, "Most to list", 1, 100'000);
    onCommand(command, context, std::move(options), list);
}

} // namespace assay::cli
