// SPDX-License-Identifier: Apache-2.0
#include "app/cli/command.h"

namespace assay::cli {

namespace {

struct Options
{
    std::string name;
    std::string revision;
    std::string reason;
};

Result<int> withdraw(Context& context, const Options& options)
{
    auto api = context.api();
    if (!api)
        return forward(api);
    auto answer = (*api)->post(pathOf({"v1", "skills", options.name, "revisions", options.revision, "withdraw"}),
                               {{"reason", options.reason}});
    if (!answer)
        return forward(answer);
    context.print(answer->body, [&](const json::value& revision) {
        return "withdrew revision " + std::to_string(numberOf(revision, "number")) + " of " + plain(options.name) +
               ": new runs refuse it, pinned ones keep it\n";
    });
    return kDone;
}

} // namespace

void addSkillWithdraw(Command& parent, Context& context)
{
    auto options = std::make_shared<Options>();
    Command command = parent.add("withdraw", "Refuse a revision for new runs");
    command.required("NAME", options->name);
    command.required("REVISION", options->revision, "Id from `assayctl skill history`, or current");
    command.required("--reason", options->reason, "Why, for the history");
    onCommand(command, context, std::move(options), withdraw);
}

} // namespace assay::cli
