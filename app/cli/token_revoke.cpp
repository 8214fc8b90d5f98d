// SPDX-License-Identifier: Apache-2.0
#include "app/cli/command.h"

namespace assay::cli {

namespace {

struct Options
{
    std::string id;
};

Result<int> remove(Context& context, const Options& options)
{
    auto api = context.api();
    if (!api)
        return forward(api);
    HttpRequest request;
    request.method = "DELETE";
    request.target = pathOf({"v1", "tokens", options.id});
    auto answer = (*api)->send(std::move(request));
    if (!answer)
        return forward(answer);
    context.print(json::object{{"revoked", options.id}},
                  [&](const json::value&) { return "revoked " + plain(options.id) + "\n"; });
    return kDone;
}

} // namespace

void addTokenRevoke(Command& parent, Context& context)
{
    auto options = std::make_shared<Options>();
    Command command = parent.add("revoke", "Refuse a token from now on");
    command.required("ID", options->id);
    onCommand(command, context, std::move(options), remove);
}

} // namespace assay::cli
