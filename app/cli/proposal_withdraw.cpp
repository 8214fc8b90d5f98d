// SPDX-License-Identifier: Apache-2.0
#include "app/cli/proposal_change.h"

namespace assay::cli {

namespace {

struct Options
{
    std::string id;
    std::string reason;
};

Result<int> withdraw(Context& context, const Options& options)
{
    return changeProposal(context, options.id, "withdraw", json::object{{"reason", options.reason}}, {});
}

} // namespace

void addProposalWithdraw(Command& parent, Context& context)
{
    auto options = std::make_shared<Options>();
    Command command = parent.add("withdraw", "Take a proposal and its revision back");
    command.required("ID", options->id);
    command.required("--reason", options->reason, "Why, for the history");
    onCommand(command, context, std::move(options), withdraw);
}

} // namespace assay::cli
