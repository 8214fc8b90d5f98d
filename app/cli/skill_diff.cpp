// SPDX-License-Identifier: Apache-2.0
#include "app/cli/command.h"
#include "app/cli/diff_text.h"

#include <cstdlib>

namespace assay::cli {

namespace {

struct Options
{
    std::string name;
    std::string from;
    std::string to;
    std::string path;
    std::string colour = "auto";
    std::uint64_t contextLines = 3;
    bool ignoresWhitespace = false;
};

Colour colourOf(const Context& context, const std::string& asked)
{
    if (asked != "auto")
        return asked == "always" ? Colour::On : Colour::Off;
    const char* without = std::getenv("NO_COLOR"); // no-color.org: any value that is not empty
    return context.console.outputIsTerminal() && (without == nullptr || *without == '\0') ? Colour::On : Colour::Off;
}

Result<int> diff(Context& context, const Options& options)
{
    auto api = context.api();
    if (!api)
        return forward(api);
    auto answer = (*api)->get(pathOf({"v1", "skills", options.name, "diff"}) +
                              queryOf({{"from", options.from},
                                       {"to", options.to},
                                       {"path", options.path},
                                       {"context", std::to_string(options.contextLines)},
                                       {"ignore_whitespace", options.ignoresWhitespace ? "true" : ""}}));
    if (!answer)
        return forward(answer);
    context.print(answer->body,
                  [&](const json::value& body) { return diffText(body, colourOf(context, options.colour)); });
    return kDone;
}

} // namespace

void addSkillDiff(Command& parent, Context& context)
{
    auto options = std::make_shared<Options>();
    options->to = "current";
    Command command = parent.add("diff", "Compare two revisions of a skill");
    command.required("NAME", options->name);
    command.required("FROM", options->from,
                     "Id of the older revision, \"current\", or \"none\" to compare with nothing");
    command.option("TO", options->to, "Id of the newer revision");
    command.number("-U,--context", options->contextLines, "Unchanged lines around each change", 0, 10'000);
    command.flag("-w,--ignore-whitespace", options->ignoresWhitespace, "Do not show changes of whitespace");
    command.option("--path", options->path, "Only this file");
    command.choice("--color", options->colour, "Colours", {"auto", "always", "never"});
    onCommand(command, context, std::move(options), diff);
}

} // namespace assay::cli
