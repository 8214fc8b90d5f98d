// SPDX-License-Identifier: Apache-2.0
#include "app/cli/proposal_change.h"

namespace assay::cli {

namespace {

struct Options
{
    std::string id;
    std::string comment;
    std::string digest;
    std::string ifMatch;
};

Result<int> send(Context& context, const Options& options, const char* verdict)
{
    json::object body{{"verdict", verdict}};
    if (!options.digest.empty())
        body["digest"] = options.digest;
    if (!options.comment.empty())
        body["comments"] = json::array{json::object{{"text", options.comment}}};
    return changeProposal(context, options.id, "reviews", body, options.ifMatch);
}

Result<int> approve(Context& context, const Options& options) { return send(context, options, "approve"); }
Result<int> requestChanges(Context& context, const Options& options)
{
    return send(context, options, "request_changes");
}

Command describe(Command command, Options& options)
{
    command.required("ID", options.id);
    command.option("--comment", options.comment, "Published with the verdict, as are your drafts");
    command.option("--digest", options.digest, "Only when the proposal is about this digest");
    command.option("--if-match", options.ifMatch, "Only when the proposal's ETag is still this one");
    return command;
}

} // namespace

void addProposalApprove(Command& parent, Context& context)
{
    auto options = std::make_shared<Options>();
    Command command = describe(parent.add("approve", "Approve exactly this digest; its publisher cannot"), *options);
    onCommand(command, context, std::move(options), approve);
}

void addProposalRequestChanges(Command& parent, Context& context)
{
    auto options = std::make_shared<Options>();
    Command command =
        describe(parent.add("request-changes", "Block the promotion until you approve or withdraw this"), *options);
    onCommand(command, context, std::move(options), requestChanges);
}

} // namespace assay::cli
