// SPDX-License-Identifier: Apache-2.0
#include "app/cli/proposal_change.h"

namespace assay::cli {

namespace {

struct Options
{
    std::string id;
};

Result<int> retract(Context& context, const Options& options)
{
    auto api = context.api();
    if (!api)
        return forward(api);
    HttpRequest request;
    request.method = "DELETE";
    request.target = pathOf({"v1", "proposals", options.id, "verdict"});
    auto answer = (*api)->send(std::move(request));
    if (!answer)
        return forward(answer);
    context.print(answer->body, proposalText);
    return kDone;
}

} // namespace

void addProposalRetract(Command& parent, Context& context)
{
    auto options = std::make_shared<Options>();
    Command command = parent.add("retract", "Take your verdict back");
    command.required("ID", options->id);
    onCommand(command, context, std::move(options), retract);
}

} // namespace assay::cli
