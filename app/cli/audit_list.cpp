// SPDX-License-Identifier: Apache-2.0
#include "app/cli/audit_filter.h"

namespace assay::cli {

namespace {

struct Options
{
    AuditFilterOptions filter;
    std::uint64_t limit = 50;
};

std::string outcomeOf(const json::value& row)
{
    const json::value* metadata = memberOf(row, "metadata");
    if (!metadata)
        return {};
    std::string out = textOf(*metadata, "reason");
    const std::string termination = textOf(*metadata, "termination");
    if (!termination.empty())
        out += (out.empty() ? "" : " ") + termination;
    if (const json::value* status = memberOf(*metadata, "exit_code"); status && status->is_int64())
        out += " " + std::to_string(status->as_int64());
    return out;
}

std::string describe(const json::value& page)
{
    TextTable table({"ROW", "AT", "ACTOR", "OPERATION", "DECISION", "RESOURCE", "OUTCOME"});
    for (const json::value& row : itemsOf(page, "items")) {
        const auto times = numberOf(row, "occurrences");
        table.add({std::to_string(numberOf(row, "seq")), textOf(row, "at"), textOf(row, "actor"),
                   textOf(row, "operation"),
                   textOf(row, "decision") + (times > 1 ? " x" + std::to_string(times) : std::string()),
                   textOf(row, "resource"), outcomeOf(row)});
    }
    if (!table.hasRows())
        return "no rows\n";
    return table.text() + (memberOf(page, "next_page_token") ? "there are more; raise --limit\n" : "");
}

Result<int> list(Context& context, const Options& options)
{
    auto api = context.api();
    if (!api)
        return forward(api);
    auto page = (*api)->list("/v1/audit", options.filter.query(), options.limit);
    if (!page)
        return forward(page);
    context.print(*page, describe);
    return kDone;
}

} // namespace

void addAuditList(Command& parent, Context& context)
{
    auto options = std::make_shared<Options>();
    Command command = parent.add("list", "List what was decided, newest first");
    options->filter.addTo(command);
    command.number("--limit", options->limit, "Most to list", 1, 100'000);
    onCommand(command, context, std::move(options), list);
}

} // namespace assay::cli
