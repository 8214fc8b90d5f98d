// SPDX-License-Identifier: Apache-2.0
#include "app/cli/command.h"

namespace assay::cli {

namespace {

struct Options
{
    std::string name;
    std::string revision;
    std::string ifMatch;
    std::string reason;
};

Result<int> promote(Context& context, const Options& options)
{
    auto api = context.api();
    if (!api)
        return forward(api);
    std::string etag = options.ifMatch;
    if (etag.empty()) {
        auto skill = (*api)->get(pathOf({"v1", "skills", options.name}));
        if (!skill)
            return forward(skill);
        etag = skill->etag;
    }
    const std::string body = options.reason.empty() ? "" : json::serialize(json::object{{"reason", options.reason}});
    HttpRequest request;
    request.method = "POST";
    request.target = pathOf({"v1", "skills", options.name, "revisions", options.revision, "promote"});
    if (!body.empty())
        request.contentType = "application/json";
    request.body = body;
    if (!etag.empty())
        request.headers.emplace_back("If-Match", etag);
    auto answer = (*api)->send(std::move(request));
    if (!answer)
        return forward(answer);
    context.print(answer->body, [](const json::value& skill) {
        return plain(textOf(skill, "name")) + ": current is now revision " + std::to_string(numberOf(skill, "number")) +
               '\n' + labelled("revision", textOf(skill, "current_revision")) +
               labelled("digest", textOf(skill, "digest"));
    });
    return kDone;
}

} // namespace

void addSkillPromote(Command& parent, Context& context)
{
    auto options = std::make_shared<Options>();
    Command command = parent.add("promote", "Make a revision the current one; an older one to roll back");
    command.required("NAME", options->name);
    command.required("REVISION", options->revision, "Id from `assayctl skill history`");
    command.option("--if-match", options->ifMatch, "Only when the skill's ETag is still this one");
    command.option("--reason", options->reason, "Why, for the history");
    onCommand(command, context, std::move(options), promote);
}

} // namespace assay::cli
