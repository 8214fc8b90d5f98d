// SPDX-License-Identifier: Apache-2.0
#include "app/cli/command.h"

namespace assay::cli {

namespace {

struct Options
{
    std::string name;
};

std::string describe(const json::value& agent)
{
    std::string out = plain(textOf(agent, "name")) + '\n';
    out += labelled("revision", textOf(agent, "revision"));
    out += labelled("digest", textOf(agent, "digest"));
    out += labelled("skills", joined(agent, "skills"));
    for (const json::value& one : itemsOf(agent, "subagents"))
        out += labelled("subagent", textOf(one, "name") + ": " + joined(one, "skills"));
    out += labelled("environment", textOf(agent, "environment"));
    out += labelled("execution", textOf(agent, "execution"));
    out += labelled("egress", textOf(agent, "egress.tier"));
    out += labelled("allowlist", joined(agent, "egress.allowlist"));
    return out + findingLines(agent, "warnings", {});
}

Result<int> show(Context& context, const Options& options)
{
    auto api = context.api();
    if (!api)
        return forward(api);
    auto answer = (*api)->get(pathOf({"v1", "agents", options.name}));
    if (!answer)
        return forward(answer);
    context.print(answer->body, describe);
    return kDone;
}

} // namespace

void addAgentShow(Command& parent, Context& context)
{
    auto options = std::make_shared<Options>();
    Command command = parent.add("show", "Show an agent's definition");
    command.required("NAME", options->name);
    onCommand(command, context, std::move(options), show);
}

} // namespace assay::cli
