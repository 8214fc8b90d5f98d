// SPDX-License-Identifier: Apache-2.0
#include "app/cli/proposal_change.h"

namespace assay::cli {

namespace {

struct Options
{
    std::string id;
    std::string digest;
    std::string base;
};

Result<int> acknowledge(Context& context, const Options& options)
{
    auto api = context.api();
    if (!api)
        return forward(api);
    const auto seen = (*api)->get(pathOf({"v1", "proposals", options.id}));
    if (!seen)
        return std::unexpected(seen.error());
    std::string base = options.base.empty() ? textOf(seen->body, "base.digest") : options.base;
    json::object body{{"digest", options.digest}, {"base_digest", nullptr}};
    if (!base.empty() && base != "none")
        body["base_digest"] = std::move(base);
    return changeProposal(context, options.id, "acknowledge", body, {});
}

} // namespace

void addProposalAcknowledge(Command& parent, Context& context)
{
    auto options = std::make_shared<Options>();
    Command command = parent.add("acknowledge", "Say that you have seen what this digest can newly do");
    command.required("ID", options->id);
    command.required("DIGEST", options->digest, "The proposal's, as `assayctl proposal show` tells it");
    command.option("--base", options->base, "Digest that you compared it with, or none [what is its base now]");
    onCommand(command, context, std::move(options), acknowledge);
}

} // namespace assay::cli
