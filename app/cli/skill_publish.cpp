// SPDX-License-Identifier: Apache-2.0
#include "app/cli/command.h"
#include "app/cli/local_package.h"
#include "server/core/base64.h"

namespace assay::cli {

namespace {

constexpr std::uint64_t kArchiveBytes = 256ULL << 20;

struct Options
{
    std::string path;
    std::string name;
    std::string note;
    std::string ifMatch;
    bool copyLinks = false;
    bool createOnly = false;
};

struct Upload
{
    std::string name;
    std::string contentType;
    std::string body;
};

/// The body of a publish as JSON: the only form that carries a note.
std::string jsonBody(const registry::ValidPackage& package, const std::string& note)
{
    json::object files;
    json::object assets;
    json::array executable;
    for (const registry::PackageFile& file : package.files) {
        if (file.kind == registry::FileKind::Text)
            files[file.path] = file.content;
        else
            assets[file.path] = toBase64(file.content);
        if (file.executable)
            executable.emplace_back(file.path);
    }
    json::object body{
        {"files", std::move(files)}, {"assets", std::move(assets)}, {"executable", std::move(executable)}};
    if (!note.empty())
        body["note"] = note;
    return json::serialize(body);
}

/// An archive goes as it is: its digest is of its content, and the server judges it. A folder is packed here.
Result<Upload> prepare(Context& context, const Options& options)
{
    auto local = readLocalPackage(options.path, options.name, options.copyLinks ? Links::Copy : Links::Refuse);
    if (!local)
        return forward(local);
    for (const std::string& link : local->copiedLinks)
        context.console.error("copied the link " + plain(link) + "\n");
    const std::string& name = local->package.name;
    if (!options.note.empty())
        return Upload{name, "application/json", jsonBody(local->package, options.note)};
    if (const auto kind = archiveKindOf(options.path); kind && local->folder.empty()) {
        auto bytes = readInput(options.path, kArchiveBytes);
        if (!bytes)
            return forward(bytes);
        return Upload{name, std::string(mediaTypeOf(*kind)), std::move(*bytes)};
    }
    auto archive = registry::writeArchive(local->package.files, name, registry::ArchiveKind::TarGz);
    if (!archive)
        return forward(archive);
    return Upload{name, std::string(mediaTypeOf(registry::ArchiveKind::TarGz)), std::move(*archive)};
}

std::string describe(const json::value& skill, bool created, std::string_view folder)
{
    const std::string name = plain(textOf(skill, "name"));
    std::string out =
        created ? "published " + name + ", revision " + std::to_string(numberOf(skill, "number")) + '\n'
                : name + " has this content already, as revision " + std::to_string(numberOf(skill, "number")) + '\n';
    out += labelled("revision", textOf(skill, "revision"));
    out += labelled("digest", textOf(skill, "digest"));
    out += labelled("files",
                    std::to_string(numberOf(skill, "file_count")) + ", " + sizeText(numberOf(skill, "size_bytes")));
    out += labelled("left out", joined(skill, "ignored"));
    if (const std::string proposal = textOf(skill, "proposal"); !proposal.empty())
        out += "it is not current: it waits for a review in " + plain(proposal) + '\n';
    const std::string lints = findingLines(skill, "lints", folder);
    return out + (lints.empty() ? "" : "lints, which reject nothing:\n" + lints);
}

Result<int> publish(Context& context, const Options& options)
{
    context.folder = options.path;
    auto upload = prepare(context, options);
    if (!upload)
        return forward(upload);
    auto api = context.api();
    if (!api)
        return forward(api);
    HttpRequest request;
    request.method = "PUT";
    request.target = pathOf({"v1", "skills", upload->name});
    request.contentType = upload->contentType;
    request.body = upload->body;
    request.timeout = std::chrono::minutes(10);
    if (options.createOnly)
        request.headers.emplace_back("If-None-Match", "*");
    if (!options.ifMatch.empty())
        request.headers.emplace_back("If-Match", options.ifMatch);
    auto answer = (*api)->send(std::move(request), [&](std::uint64_t sent, std::uint64_t all) {
        context.console.progress("sent " + sizeText(sent) + " of " + sizeText(all));
    });
    context.console.endProgress();
    if (!answer)
        return forward(answer);
    const json::value* member = memberOf(answer->body, "revision_created");
    const bool created = !member || !member->is_bool() || member->get_bool();
    context.print(answer->body, [&](const json::value& skill) { return describe(skill, created, options.path); });
    return kDone;
}

} // namespace

void addSkillPublish(Command& parent, Context& context)
{
    auto options = std::make_shared<Options>();
    Command command = parent.add("publish", "Publish a folder or an archive as a new revision");
    command.required("PATH", options->path, "Folder, .zip, .tar or .tar.gz");
    command.option("--name", options->name, "Registry name; from SKILL.md when absent");
    command.option("--note", options->note, "What changed, for the history");
    command.option("--if-match", options->ifMatch, "Only when the skill's ETag is still this one");
    command.flag("--create", options->createOnly, "Only when there is no skill of this name yet");
    command.flag("--copy-links", options->copyLinks,
                 "Turn links that stay inside the folder into copies, and say which");
    onCommand(command, context, std::move(options), publish);
}

} // namespace assay::cli
