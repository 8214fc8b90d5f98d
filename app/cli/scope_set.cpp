// SPDX-License-Identifier: Apache-2.0
#include "app/cli/scope_text.h"

namespace assay::cli {

namespace {

struct Options
{
    std::string fingerprint;
    std::string mode;
    std::vector<std::string> checks;
    bool noChecks = false;
    std::uint64_t approvals = 0;
};

Result<int> set(Context& context, const Options& options)
{
    auto api = context.api();
    if (!api)
        return forward(api);
    json::object body;
    if (!options.mode.empty())
        body["promotion_mode"] = options.mode;
    if (!options.checks.empty() || options.noChecks)
        body["required_checks"] = json::value_from(options.checks);
    if (options.approvals > 0)
        body["required_approvals"] = options.approvals;
    const std::string text = json::serialize(body);
    HttpRequest request;
    request.method = "PATCH";
    request.target = pathOf({"v1", "scopes", options.fingerprint});
    request.contentType = "application/json";
    request.body = text;
    auto answer = (*api)->send(std::move(request));
    if (!answer)
        return forward(answer);
    context.print(answer->body, scopeText);
    return kDone;
}

} // namespace

void addScopeSet(Command& parent, Context& context)
{
    auto options = std::make_shared<Options>();
    Command command = parent.add("set", "Change how revisions of a scope become current (operator)");
    command.required("FINGERPRINT", options->fingerprint, "As `assayctl token list` tells it");
    command.choice("--promotion", options->mode, "At once, or after a review", {"automatic", "reviewed"});
    command.list("--require", options->checks, "Check that must pass; repeat for more");
    command.flag("--require-none", options->noChecks, "No check must pass");
    command.number("--approvals", options->approvals, "By how many people other than the publisher", 1, 10);
    command.exclude("--require", "--require-none");
    onCommand(command, context, std::move(options), set);
}

} // namespace assay::cli
