// SPDX-License-Identifier: Apache-2.0
#include "app/cli/scope_text.h"

namespace assay::cli {

namespace {

std::string daysText(const json::value& scope, std::string_view what)
{
    const json::value* days = memberOf(scope, "retention." + std::string(what) + "_days");
    if (!days || days->is_null())
        return "as the server's settings say";
    const auto number = numberOf(scope, "retention." + std::string(what) + "_days");
    return number == 0 ? "for ever" : std::to_string(number) + " days";
}

} // namespace

std::string scopeText(const json::value& scope)
{
    return plain(textOf(scope, "fingerprint")) + '\n' + labelled("promotion", textOf(scope, "promotion_mode")) +
           labelled("checks", joined(scope, "required_checks")) +
           labelled("approvals", std::to_string(numberOf(scope, "required_approvals"))) +
           labelled("runs are kept", daysText(scope, "runs")) + labelled("artifacts", daysText(scope, "artifacts")) +
           labelled("revisions", daysText(scope, "revisions")) + labelled("changed", textOf(scope, "updated_at")) +
           labelled("by", textOf(scope, "updated_by"));
}

namespace {

struct Options
{
    std::string fingerprint;
};

Result<int> show(Context& context, const Options& options)
{
    auto api = context.api();
    if (!api)
        return forward(api);
    auto answer =
        (*api)->get(options.fingerprint.empty() ? "/v1/scope" : pathOf({"v1", "scopes", options.fingerprint}));
    if (!answer)
        return forward(answer);
    context.print(answer->body, scopeText);
    return kDone;
}

} // namespace

void addScopeShow(Command& parent, Context& context)
{
    auto options = std::make_shared<Options>();
    Command command = parent.add("show", "Tell how revisions of a scope become current");
    command.option("FINGERPRINT", options->fingerprint, "Another scope than the token's (operator)");
    onCommand(command, context, std::move(options), show);
}

} // namespace assay::cli
