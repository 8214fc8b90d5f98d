// SPDX-License-Identifier: Apache-2.0
#include "app/cli/command.h"

namespace assay::cli {

namespace {

struct Options
{
    std::string name;
};

Result<int> remove(Context& context, const Options& options)
{
    auto api = context.api();
    if (!api)
        return forward(api);
    HttpRequest request;
    request.method = "DELETE";
    request.target = pathOf({"v1", "skills", options.name});
    auto answer = (*api)->send(std::move(request));
    if (!answer)
        return forward(answer);
    context.print(json::object{{"deleted", options.name}}, [&](const json::value&) {
        return "deleted " + plain(options.name) + "; runs that pinned it keep their revisions\n";
    });
    return kDone;
}

} // namespace

void addSkillDelete(Command& parent, Context& context)
{
    auto options = std::make_shared<Options>();
    Command command = parent.add("delete", "Take a skill out of use; publishing it again continues its history");
    command.required("NAME", options->name);
    onCommand(command, context, std::move(options), remove);
}

} // namespace assay::cli
