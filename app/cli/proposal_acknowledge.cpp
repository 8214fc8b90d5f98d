// SPDX-License-Identifier: Apache-2.0
#include "app/cli/proposal_change.h"

namespace assay::cli {

namespace {

struct Options
{
    std::string id;
    std::string digest;
};

Result<int> acknowledge(Context& context, const Options& options)
{
    return changeProposal(context, options.id, "acknowledge", json::object{{"digest", options.digest}}, {});
}

} // namespace

void addProposalAcknowledge(Command& parent, Context& context)
{
    auto options = std::make_shared<Options>();
    Command command = parent.add("acknowledge", "Say that you have seen what this digest can newly do");
    command.required("ID", options->id);
    command.required("DIGEST", options->digest, "The proposal's, as `assayctl proposal show` tells it");
    onCommand(command, context, std::move(options), acknowledge);
}

} // namespace assay::cli
