// SPDX-License-Identifier: Apache-2.0
#include "server/api/etag.h"
#include "server/api/handlers.h"
#include "server/api/package_upload.h"
#include "server/api/replies.h"

#include <array>

namespace assay::api {

namespace {

constexpr std::array<std::string_view, 3> kStates{"current", "proposed", "withdrawn"};
constexpr std::size_t kMaxQueryBytes = 256;

Result<contract::SkillFilter> readFilter(const Request& request)
{
    auto text = queryText(request, "q", kMaxQueryBytes);
    if (!text)
        return forward(text);
    auto enabled = queryFlag(request, "enabled");
    if (!enabled)
        return forward(enabled);
    auto state = queryChoice(request, "state", kStates);
    if (!state)
        return forward(state);
    return contract::SkillFilter{std::move(*text), *enabled, std::move(*state)};
}

Reply publishedReply(const Request& request, const registry::Published& published)
{
    json::object body = contract::toJson(published.skill);
    body["revision_created"] = published.revisionCreated;
    body["proposal"] = published.proposal.empty() ? json::value() : json::value(published.proposal);
    Reply reply = resourceReply(request, published.skillCreated ? 201 : 200, body, published.skill.etag);
    if (published.skillCreated)
        reply.headers.emplace_back("Location", "/v1/skills/" + published.skill.name);
    return reply;
}

Result<registry::PublishOptions> putOptions(const Request& request, registry::PublishOptions options)
{
    auto match = ifMatch(request);
    if (!match)
        return forward(match);
    auto createOnly = readCreateOnly(request.head.header("if-none-match"));
    if (!createOnly)
        return forward(createOnly);
    using Intent = registry::PublishOptions::Intent;
    options.intent = *createOnly ? Intent::CreateOnly : Intent::CreateOrReplace;
    options.ifMatch = std::move(*match);
    return options;
}

} // namespace

Result<Reply> listSkills(const Services& services, Request& request)
{
    const auto filter = readFilter(request);
    if (!filter)
        return std::unexpected(filter.error());
    const auto page = pageOf(request);
    if (!page)
        return std::unexpected(page.error());
    const auto skills = services.skills.list(request.by, *filter, *page);
    if (!skills)
        return std::unexpected(skills.error());
    return jsonReply(200, contract::pageJson(*skills));
}

Result<Reply> createSkill(const Services& services, Request& request)
{
    auto upload = readUpload(services, request, contract::NameFrom::Body);
    if (!upload)
        return forward(upload);
    upload->options.intent = registry::PublishOptions::Intent::CreateOnly;
    const auto published =
        services.skills.publish(request.by, *upload->name, std::move(upload->source), upload->options);
    if (!published)
        return std::unexpected(published.error());
    return publishedReply(request, *published);
}

Result<Reply> putSkill(const Services& services, Request& request)
{
    const std::string name = request.parameter(0);
    auto upload = readUpload(services, request, contract::NameFrom::Path, name);
    if (!upload)
        return forward(upload);
    const auto options = putOptions(request, std::move(upload->options));
    if (!options)
        return std::unexpected(options.error());
    auto published = services.skills.publish(request.by, name, std::move(upload->source), *options);
    if (published)
        return publishedReply(request, *published);
    // RFC 9110, section 13.1.2: a condition that does not hold is 412, not 409.
    const bool isCondition = options->intent == registry::PublishOptions::Intent::CreateOnly;
    if (isCondition && published.error().code == ErrorCode::Conflict)
        published.error().code = ErrorCode::PreconditionFailed;
    return forward(published);
}

Result<Reply> patchSkill(const Services& services, Request& request)
{
    const auto body = jsonBody(request);
    if (!body)
        return std::unexpected(body.error());
    const auto patch = contract::readPatchSkill(*body);
    if (!patch)
        return std::unexpected(patch.error());
    const auto match = ifMatch(request);
    if (!match)
        return std::unexpected(match.error());
    const auto skill = services.skills.patch(request.by, request.parameter(0), *patch, *match);
    if (!skill)
        return std::unexpected(skill.error());
    return resourceReply(request, 200, contract::toJson(*skill), skill->etag);
}

Result<Reply> getSkill(const Services& services, Request& request)
{
    const auto skill = services.skills.find(request.by, request.parameter(0));
    if (!skill)
        return std::unexpected(skill.error());
    return resourceReply(request, 200, contract::toJson(*skill), skill->etag);
}

Result<Reply> deleteSkill(const Services& services, Request& request)
{
    const auto match = ifMatch(request);
    if (!match)
        return std::unexpected(match.error());
    auto removed = services.skills.remove(request.by, request.parameter(0), *match);
    if (!removed)
        return forward(removed);
    return noContent();
}

Result<Reply> validateSkill(const Services& services, Request& request)
{
    auto upload = readUpload(services, request, contract::NameFrom::Anywhere);
    if (!upload && upload.error().code == ErrorCode::InvalidPackage)
        return jsonReply(200, contract::toJson(contract::Verdict{.errors = std::move(upload.error().problems)}));
    if (!upload)
        return forward(upload);
    const auto inQuery = request.queryValue("name");
    if (inQuery && upload->name && *inQuery != *upload->name)
        return failAt("/name", "the name in the body differs from the name in the query");
    const std::string name = upload->name.value_or(inQuery.value_or(""));
    return jsonReply(200, contract::toJson(services.skills.validate(name, std::move(upload->source))));
}

} // namespace assay::api
