// SPDX-License-Identifier: Apache-2.0
#include "app/cli/command.h"

namespace assay::cli {

namespace {

struct Options
{
    std::string digest;
};

Result<int> remove(Context& context, const Options& options)
{
    auto api = context.api();
    if (!api)
        return forward(api);
    HttpRequest request;
    request.method = "DELETE";
    request.target = pathOf({"v1", "stops", options.digest});
    auto answer = (*api)->send(std::move(request));
    if (!answer)
        return forward(answer);
    context.print(json::object{{"lifted", options.digest}},
                  [&](const json::value&) { return "lifted the stop of " + plain(options.digest) + "\n"; });
    return kDone;
}

} // namespace

void addStopLift(Command& parent, Context& context)
{
    auto options = std::make_shared<Options>();
    Command command = parent.add("lift", "Let content run and be promoted again");
    command.required("DIGEST", options->digest);
    onCommand(command, context, std::move(options), remove);
}

} // namespace assay::cli
