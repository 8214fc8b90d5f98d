// SPDX-License-Identifier: Apache-2.0
#include "app/cli/proposal_change.h"

namespace assay::cli {

namespace {

struct Options
{
    std::string id;
    std::string comment;
    bool reopen = false;
};

Result<int> resolve(Context& context, const Options& options)
{
    return changeProposal(context, options.id, "resolve",
                          json::object{{"comment", options.comment}, {"resolved", !options.reopen}}, {});
}

} // namespace

void addProposalResolve(Command& parent, Context& context)
{
    auto options = std::make_shared<Options>();
    Command command = parent.add("resolve", "Mark a thread as resolved");
    command.required("ID", options->id);
    command.required("COMMENT", options->comment, "Any comment of the thread");
    command.flag("--reopen", options->reopen, "Mark it as not resolved");
    onCommand(command, context, std::move(options), resolve);
}

} // namespace assay::cli
