// SPDX-License-Identifier: Apache-2.0
#include "app/cli/command.h"

namespace assay::cli {

namespace {

struct Options
{
    std::string name;
    std::string revision;
};

std::string fileTable(const json::value& files)
{
    TextTable table({"MODE", "SIZE", "KIND", "PATH"});
    for (const json::value& file : itemsOf(files, "items"))
        table.add({isTrue(file, "executable") ? "x" : "-", sizeText(numberOf(file, "size_bytes")), textOf(file, "kind"),
                   textOf(file, "path")});
    return table.hasRows() ? table.text() : "";
}

std::string describeSkill(const json::value& skill)
{
    std::string out = plain(textOf(skill, "name")) + (isTrue(skill, "enabled") ? "" : " (disabled)") + '\n';
    out += labelled("description", textOf(skill, "description"));
    out += labelled("visibility", textOf(skill, "visibility"));
    out += labelled("current", textOf(skill, "current_revision"));
    return out;
}

std::string describeRevision(const json::value& revision)
{
    std::string out = labelled("revision", textOf(revision, "id"));
    out += labelled("number", std::to_string(numberOf(revision, "number")));
    out += labelled("state", textOf(revision, "state"));
    out += labelled("digest", textOf(revision, "digest"));
    out += labelled("size", sizeText(numberOf(revision, "size_bytes")));
    out += labelled("publisher", textOf(revision, "publisher"));
    out += labelled("published", textOf(revision, "created_at"));
    out += labelled("note", textOf(revision, "note"));
    out += labelled("withdrawn", textOf(revision, "withdrawn_reason"));
    return out + findingLines(revision, "lints", {});
}

Result<int> show(Context& context, const Options& options)
{
    auto api = context.api();
    if (!api)
        return forward(api);
    auto skill = (*api)->get(pathOf({"v1", "skills", options.name}));
    if (!skill)
        return forward(skill);
    // A skill that waits for its first review has none current, and shows its newest.
    const bool hasNone = options.revision == "current" && textOf(skill->body, "current_revision").empty();
    const std::string id = hasNone ? textOf(skill->body, "revision") : options.revision;
    auto revision = (*api)->get(pathOf({"v1", "skills", options.name, "revisions", id}));
    if (!revision)
        return forward(revision);
    auto files = (*api)->get(pathOf({"v1", "skills", options.name, "revisions", id, "files"}));
    if (!files)
        return forward(files);
    const json::value all{{"skill", skill->body},
                          {"etag", skill->etag},
                          {"revision", revision->body},
                          {"files", itemsOf(files->body, "items")}};
    context.print(all, [&](const json::value&) {
        return describeSkill(skill->body) + describeRevision(revision->body) + fileTable(files->body);
    });
    return kDone;
}

} // namespace

void addSkillShow(Command& parent, Context& context)
{
    auto options = std::make_shared<Options>();
    options->revision = "current";
    Command command = parent.add("show", "Show a skill, one of its revisions, and its files");
    command.required("NAME", options->name);
    command.option("--revision", options->revision, "Id of a revision");
    onCommand(command, context, std::move(options), show);
}

} // namespace assay::cli
