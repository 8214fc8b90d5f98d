// SPDX-License-Identifier: Apache-2.0
#include "server/api/etag.h"
#include "server/api/handlers.h"
#include "server/api/replies.h"
#include "server/contract/codec.h"
#include "server/registry/capabilities/package_scan.h"

namespace assay::api {

namespace {

/// Told apart from answers of a server whose comparison has another form.
const std::string kForm = "diff-1." + std::to_string(registry::capabilities::kRulesVersion);
constexpr std::size_t kMaxRevisionBytes = 64;
constexpr std::size_t kMaxPathBytes = 512;

Result<std::uint32_t> contextOf(const Request& request)
{
    const auto text = request.queryValue("context");
    if (!text)
        return contract::DiffOptions{}.context;
    const auto number = readDecimal(*text);
    if (!number || *number > contract::DiffOptions::kMaxContext)
        return badQuery("context",
                        "this must be a whole number from 0 to " + std::to_string(contract::DiffOptions::kMaxContext));
    return static_cast<std::uint32_t>(*number);
}

Result<contract::DiffOptions> optionsOf(const Request& request)
{
    contract::DiffOptions out;
    const auto context = contextOf(request);
    if (!context)
        return std::unexpected(context.error());
    const auto ignore = queryFlag(request, "ignore_whitespace");
    if (!ignore)
        return std::unexpected(ignore.error());
    auto path = queryText(request, "path", kMaxPathBytes);
    if (!path)
        return forward(path);
    out.context = *context;
    out.ignoreWhitespace = ignore->value_or(false);
    out.path = std::move(*path);
    return out;
}

/// Of all that decides the answer; nothing has to be read for it.
std::string tagOf(const registry::SkillService::Compared& revisions, const contract::DiffOptions& options)
{
    std::string all(kForm);
    for (const contract::Revision* revision : {revisions.from ? &*revisions.from : nullptr, &revisions.to})
        all += revision != nullptr ? '\n' + revision->id + ' ' + revision->digest : "\nnone";
    all += '\n' + std::to_string(options.context) + (options.ignoreWhitespace ? " w " : " - ") + options.path;
    return tagOfBody(all);
}

} // namespace

Result<Reply> getDiff(const Services& services, Request& request)
{
    const std::string& name = request.parameter(0);
    auto options = optionsOf(request);
    auto from = queryText(request, "from", kMaxRevisionBytes);
    auto to = queryText(request, "to", kMaxRevisionBytes);
    if (!options || !from || !to)
        return !options ? forward(options) : !from ? forward(from) : forward(to);
    if (from->empty())
        return badQuery("from", "name the older revision: an id, \"current\", or \"none\" to compare with nothing");
    const auto revisions = services.skills.compared(request.by, name, *from, to->empty() ? "current" : *to);
    if (!revisions)
        return std::unexpected(revisions.error());
    const std::string tag = tagOf(*revisions, *options);
    if (noneMatchNames(request.head.header("if-none-match"), tag))
        return resourceReply(request, 200, {}, tag);
    const auto diff = services.skills.compare(request.by, name, *revisions, *options);
    if (!diff)
        return std::unexpected(diff.error());
    return resourceReply(request, 200, contract::toJson(*diff), tag);
}

Result<Reply> getCapabilities(const Services& services, Request& request)
{
    const auto report = services.skills.capabilities(request.by, request.parameter(0), request.parameter(1));
    if (!report)
        return std::unexpected(report.error());
    return resourceReply(request, 200, contract::toJson(*report));
}

} // namespace assay::api
