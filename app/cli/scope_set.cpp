// SPDX-License-Identifier: Apache-2.0
#include "app/cli/scope_text.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace assay::cli {

namespace {

struct Options
{
    std::string fingerprint;
    std::string mode;
    std::vector<std::string> checks;
    bool noChecks = false;
    std::uint64_t approvals = 0;
    std::vector<std::string> keep;
};

constexpr std::array<std::string_view, 3> kKept{"runs", "artifacts", "revisions"};

/// "runs=30" or "runs=default"; the server judges the number.
Result<json::object> retentionOf(const std::vector<std::string>& keep)
{
    json::object out;
    for (const std::string& text : keep) {
        const auto equals = text.find('=');
        const std::string what = text.substr(0, equals);
        const std::string days = equals == std::string::npos ? "" : text.substr(equals + 1);
        std::uint64_t number = 0;
        const auto [end, error] = std::from_chars(days.data(), days.data() + days.size(), number);
        const bool isNumber = error == std::errc() && end == days.data() + days.size();
        if (std::ranges::find(kKept, what) == kKept.end() || (!isNumber && days != "default"))
            return fail(
                ErrorCode::InvalidArgument,
                "--keep takes runs=DAYS, artifacts=DAYS or revisions=DAYS; 0 is for ever, \"default\" follows the "
                "server");
        out[what + "_days"] = isNumber ? json::value(number) : json::value();
    }
    return out;
}

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
    auto retention = retentionOf(options.keep);
    if (!retention)
        return forward(retention);
    if (!retention->empty())
        body["retention"] = std::move(*retention);
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
    Command command =
        parent.add("set", "Change how revisions of a scope become current, and how long it keeps things (operator)");
    command.required("FINGERPRINT", options->fingerprint, "As `assayctl token list` tells it");
    command.choice("--promotion", options->mode, "At once, or after a review", {"automatic", "reviewed"});
    command.list("--require", options->checks, "Check that must pass; repeat for more");
    command.flag("--require-none", options->noChecks, "No check must pass");
    command.number("--approvals", options->approvals, "By how many people other than the publisher", 1, 10);
    command.list("--keep", options->keep, "runs=DAYS, artifacts=DAYS or revisions=DAYS; 0: for ever; \"default\"");
    command.exclude("--require", "--require-none");
    onCommand(command, context, std::move(options), set);
}

} // namespace assay::cli
