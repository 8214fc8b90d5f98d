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
    TextTable table({"DIGEST", "STOPPED", "BY", "REASON"});
    for (const json::value& one : itemsOf(page, "items"))
        table.add({textOf(one, "digest"), textOf(one, "stopped_at"), textOf(one, "stopped_by"), textOf(one, "reason")});
    return table.hasRows() ? table.text() : "nothing is stopped\n";
}

Result<int> list(Context& context, const Options& options)
{
    auto api = context.api();
    if (!api)
        return forward(api);
    auto page = (*api)->list("/v1/stops", {}, options.limit);
    if (!page)
        return forward(page);
    context.print(*page, describe);
    return kDone;
}

} // namespace

void addStopList(Command& parent, Context& context)
{
    auto options = std::make_shared<Options>();
    Command command = parent.add("list", "List content that is stopped in every scope");
    command.number("--limit", options->limit, "Most to list", 1, 100'000);
    onCommand(command, context, std::move(options), list);
}

} // namespace assay::cli
