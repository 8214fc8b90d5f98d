// SPDX-License-Identifier: Apache-2.0
#include "app/cli/removal.h"

namespace assay::cli {

namespace {

struct Options
{
    Removal removal;
    std::string name;
};

Result<int> remove(Context& context, const Options& options)
{
    auto api = context.api();
    if (!api)
        return forward(api);
    HttpRequest request;
    request.method = "DELETE";
    request.target = pathOf({"v1", options.removal.collection, options.name});
    auto answer = (*api)->send(std::move(request));
    if (!answer)
        return forward(answer);
    context.print(json::object{{options.removal.done, options.name}}, [&](const json::value&) {
        return options.removal.before + plain(options.name) + options.removal.after + "\n";
    });
    return kDone;
}

} // namespace

void addRemoval(Command& parent, Context& context, const Removal& removal)
{
    auto options = std::make_shared<Options>(removal);
    Command command = parent.add(removal.command, removal.about);
    command.required(removal.argument, options->name);
    onCommand(command, context, std::move(options), remove);
}

} // namespace assay::cli
