// SPDX-License-Identifier: Apache-2.0
#include "app/cli/command.h"

namespace assay::cli {

namespace {

struct Options
{
    std::string id;
    std::string text;
    std::string path;
    std::string side;
    std::uint64_t line = 0;
    std::string replyTo;
    bool draft = false;
};

Result<int> comment(Context& context, const Options& options)
{
    auto api = context.api();
    if (!api)
        return forward(api);
    json::object body{{"text", options.text}};
    if (!options.path.empty())
        body["path"] = options.path;
    if (!options.side.empty())
        body["side"] = options.side;
    if (options.line > 0)
        body["line"] = options.line;
    if (!options.replyTo.empty())
        body["in_reply_to"] = options.replyTo;
    if (options.draft)
        body["draft"] = true;
    auto answer = (*api)->post(pathOf({"v1", "proposals", options.id, "comments"}), body);
    if (!answer)
        return forward(answer);
    context.print(answer->body, [](const json::value& value) {
        return (isTrue(value, "draft") ? "kept the draft " : "commented ") + plain(textOf(value, "id")) + '\n';
    });
    return kDone;
}

} // namespace

void addProposalComment(Command& parent, Context& context)
{
    auto options = std::make_shared<Options>();
    Command command = parent.add("comment", "Comment on a proposal, a file, or any line of either side");
    command.required("ID", options->id);
    command.required("TEXT", options->text);
    command.option("--path", options->path, "File of the package");
    command.choice("--side", options->side, "new, or what is current now", {"new", "old"});
    command.number("--line", options->line, "Line of that file", 1, 100'000'000);
    command.option("--reply-to", options->replyTo, "Comment of the thread to answer in");
    command.flag("--draft", options->draft, "Keep it until your next verdict publishes it");
    onCommand(command, context, std::move(options), comment);
}

} // namespace assay::cli
