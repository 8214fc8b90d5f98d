// SPDX-License-Identifier: Apache-2.0
#include "app/cli/command.h"

namespace assay::cli {

namespace {

struct Options
{
    std::string state;
    std::string agent;
    std::string skill;
    std::string since;
    std::uint64_t limit = 50;
};

std::string skillsOf(const json::value& run)
{
    std::string out;
    for (const json::value& skill : itemsOf(run, "skills"))
        out += (out.empty() ? "" : ", ") + textOf(skill, "name") + " " + std::to_string(numberOf(skill, "number"));
    return out;
}

std::string describe(const json::value& page)
{
    TextTable table({"RUN", "STATE", "SKILLS", "AGENT", "STARTED", "ENDED BY"});
    for (const json::value& run : itemsOf(page, "items")) {
        const std::string reason = textOf(run, "reason");
        table.add({textOf(run, "id"), textOf(run, "state"), skillsOf(run), textOf(run, "agent"),
                   textOf(run, "created_at"), reason.empty() ? textOf(run, "termination") : reason});
    }
    if (!table.hasRows())
        return "no runs\n";
    return table.text() + (memberOf(page, "next_page_token") ? "there are more; raise --limit\n" : "");
}

Result<int> list(Context& context, const Options& options)
{
    auto api = context.api();
    if (!api)
        return forward(api);
    auto page = (*api)->list(
        "/v1/runs",
        {{"state", options.state}, {"agent", options.agent}, {"skill", options.skill}, {"since", options.since}},
        options.limit);
    if (!page)
        return forward(page);
    context.print(*page, describe);
    return kDone;
}

} // namespace

void addRunsList(Command& parent, Context& context)
{
    auto options = std::make_shared<Options>();
    Command command = parent.add("list", "List runs, newest first");
    command.option("--state", options->state, "Only runs in this state");
    command.option("--agent", options->agent, "Only runs of this agent");
    command.option("--skill", options->skill, "Only runs with this skill");
    command.option("--since", options->since, "Only runs since this time (RFC 3339)");
    command.number("--limit", options->limit, "Most to list", 1, 100'000);
    onCommand(command, context, std::move(options), list);
}

} // namespace assay::cli
