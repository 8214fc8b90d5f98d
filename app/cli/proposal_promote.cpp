// SPDX-License-Identifier: Apache-2.0
#include "app/cli/proposal_change.h"

namespace assay::cli {

namespace {

struct Options
{
    std::string id;
    std::string reason;
    std::string ifMatch;
};

Result<int> promote(Context& context, const Options& options)
{
    json::object body;
    if (!options.reason.empty())
        body["reason"] = options.reason;
    return changeProposal(context, options.id, "promote", body, options.ifMatch);
}

} // namespace

void addProposalPromote(Command& parent, Context& context)
{
    auto options = std::make_shared<Options>();
    Command command = parent.add("promote", "Make its revision the current one; its publisher cannot");
    command.required("ID", options->id);
    command.option("--reason", options->reason, "Why, for the history");
    command.option("--if-match", options->ifMatch, "Only when the proposal's ETag is still this one");
    onCommand(command, context, std::move(options), promote);
}

} // namespace assay::cli
