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
    TextTable table({"TOKEN", "NAME", "SCOPE", "PRINCIPAL", "ROLES", "CREATED", "REVOKED"});
    for (const json::value& one : itemsOf(page, "items"))
        table.add({textOf(one, "id"), textOf(one, "name"), textOf(one, "scope_fingerprint"), textOf(one, "principal"),
                   joined(one, "roles"), textOf(one, "created_at"), textOf(one, "revoked_at")});
    return table.hasRows() ? table.text() : "no tokens\n";
}

Result<int> list(Context& context, const Options& options)
{
    auto api = context.api();
    if (!api)
        return forward(api);
    auto page = (*api)->list("/v1/tokens", {}, options.limit);
    if (!page)
        return forward(page);
    context.print(*page, describe);
    return kDone;
}

} // namespace

void addTokenList(Command& parent, Context& context)
{
    auto options = std::make_shared<Options>();
    Command command = parent.add("list", "List the server's tokens, never their secrets");
    command.number("--limit", options->limit, "Most to list", 1, 100'000);
    onCommand(command, context, std::move(options), list);
}

} // namespace assay::cli
