// SPDX-License-Identifier: Apache-2.0
#include "app/cli/command.h"
#include "server/core/text.h"

namespace assay::cli {

namespace {

struct Options
{
    std::string text;
    std::string state;
    std::string enabled;
    std::uint64_t limit = 200;
};

std::string describe(const json::value& page)
{
    TextTable table({"NAME", "NO.", "FILES", "SIZE", "STATE", "DESCRIPTION"});
    for (const json::value& skill : itemsOf(page, "items")) {
        std::string description = textOf(skill, "description");
        if (countCodePoints(description) > 60) {
            while (countCodePoints(description) > 57 || !isUtf8(description))
                description.pop_back();
            description += "...";
        }
        table.add({textOf(skill, "name"), std::to_string(numberOf(skill, "number")),
                   std::to_string(numberOf(skill, "file_count")), sizeText(numberOf(skill, "size_bytes")),
                   isTrue(skill, "enabled") ? "enabled" : "disabled", description});
    }
    if (!table.hasRows())
        return "no skills\n";
    return table.text() + (memberOf(page, "next_page_token") ? "there are more; raise --limit\n" : "");
}

Result<int> list(Context& context, const Options& options)
{
    auto api = context.api();
    if (!api)
        return forward(api);
    auto page = (*api)->list(
        "/v1/skills", {{"q", options.text}, {"state", options.state}, {"enabled", options.enabled}}, options.limit);
    if (!page)
        return forward(page);
    context.print(*page, describe);
    return kDone;
}

} // namespace

void addSkillList(Command& parent, Context& context)
{
    auto options = std::make_shared<Options>();
    Command command = parent.add("list", "List the skills of the token's scope");
    command.option("-q,--search", options->text, "Part of a name or description");
    command.choice("--state", options->state, "Only skills in this state", {"current", "proposed", "withdrawn"});
    command.choice("--enabled", options->enabled, "Only enabled or only disabled ones", {"true", "false"});
    command.number("--limit", options->limit, "Most to list", 1, 100'000);
    onCommand(command, context, std::move(options), list);
}

} // namespace assay::cli
