// SPDX-License-Identifier: Apache-2.0
#include "app/cli/command.h"

namespace assay::cli {

namespace {

struct Options
{
    std::string skill;
    std::string name;
};

Result<int> remove(Context& context, const Options& options)
{
    auto api = context.api();
    if (!api)
        return forward(api);
    HttpRequest request;
    request.method = "DELETE";
    request.target = pathOf({"v1", "skills", options.skill, "samples", options.name});
    auto answer = (*api)->send(std::move(request));
    if (!answer)
        return forward(answer);
    context.print(json::object{{"deleted", options.name}},
                  [&](const json::value&) { return "deleted the sample " + plain(options.name) + "\n"; });
    return kDone;
}

} // namespace

void addSampleDelete(Command& parent, Context& context)
{
    auto options = std::make_shared<Options>();
    Command command = parent.add("delete", "Remove a saved input");
    command.required("SKILL", options->skill);
    command.required("NAME", options->name);
    onCommand(command, context, std::move(options), remove);
}

} // namespace assay::cli
