// SPDX-License-Identifier: Apache-2.0
#include "app/cli/command.h"
#include "app/cli/local_package.h"
#include "app/cli/skill_folders.h"

#include <map>

namespace assay::cli {

namespace {

struct Options
{
    std::string folder;
    bool copyLinks = false;
    bool dryRun = false;
};

/// What became of one folder.
struct Imported
{
    std::string folder;
    std::string name;
    std::string status; ///< "created", "updated", "unchanged", "invalid" or "failed"
    std::string revision;
    std::string digest;
    std::optional<Error> error;
};

bool stopsEverything(const Error& error)
{
    return error.code == ErrorCode::Unavailable || error.code == ErrorCode::Unauthenticated ||
           error.code == ErrorCode::Cancelled || error.code == ErrorCode::Timeout;
}

Imported failed(Imported one, Error error)
{
    one.status = error.code == ErrorCode::InvalidPackage ? "invalid" : "failed";
    one.error = std::move(error);
    return one;
}

/// The newest revision tells whether the files changed since the last import: it may wait for review, or people may
/// have rolled back from it, and importing it again must undo neither.
Result<json::value> newestRevision(ApiClient& api, const std::string& name)
{
    auto answer = api.get(pathOf({"v1", "skills", name, "revisions"}) + "?page_size=1");
    if (!answer && answer.error().code == ErrorCode::NotFound)
        return json::value(nullptr);
    if (!answer)
        return forward(answer);
    const json::value* items = memberOf(answer->body, "items");
    const json::array* list = items ? items->if_array() : nullptr;
    return list && !list->empty() ? list->front() : json::value(nullptr);
}

Result<Answer> upload(ApiClient& api, const registry::ValidPackage& package)
{
    auto archive = registry::writeArchive(package.files, package.name, registry::ArchiveKind::TarGz);
    if (!archive)
        return forward(archive);
    HttpRequest request;
    request.method = "PUT";
    request.target = pathOf({"v1", "skills", package.name});
    request.contentType = mediaTypeOf(registry::ArchiveKind::TarGz);
    request.body = *archive;
    request.timeout = std::chrono::minutes(10);
    return api.send(std::move(request));
}

Imported publishChanged(ApiClient& api, const Options& options, const registry::ValidPackage& package, Imported one)
{
    one.digest = package.digest.text();
    const auto newest = newestRevision(api, package.name);
    if (!newest)
        return failed(std::move(one), newest.error());
    if (textOf(*newest, "digest") == one.digest) {
        one.status = "unchanged";
        one.revision = textOf(*newest, "id");
        return one;
    }
    one.status = newest->is_null() ? "created" : "updated";
    if (options.dryRun)
        return one;
    auto answer = upload(api, package);
    if (!answer)
        return failed(std::move(one), std::move(answer).error());
    one.status = answer->status == 201 ? "created" : "updated";
    if (const json::value* made = memberOf(answer->body, "revision_created");
        made && made->is_bool() && !made->get_bool())
        one.status = "unchanged";
    one.revision = textOf(answer->body, "revision");
    return one;
}

Imported importOne(ApiClient& api, const Options& options, const std::string& folder,
                   std::map<std::string, std::string>& seen)
{
    Imported one{.folder = folder, .name = {}, .status = {}, .revision = {}, .digest = {}, .error = {}};
    auto local = readLocalPackage(folder, "", options.copyLinks ? Links::Copy : Links::Refuse);
    if (!local)
        return failed(std::move(one), std::move(local).error());
    one.name = local->package.name;
    const auto [other, isFirst] = seen.emplace(one.name, folder);
    if (!isFirst)
        return failed(std::move(one), {.code = ErrorCode::InvalidPackage,
                                       .message = "the skill \"" + one.name + "\" stands in " + other->second + " too",
                                       .detail = {},
                                       .reason = {},
                                       .problems = {}});
    return publishChanged(api, options, local->package, std::move(one));
}

json::object jsonOf(const Imported& one)
{
    json::object out{{"folder", one.folder}, {"status", one.status}};
    for (const auto& [name, value] :
         {std::pair{"name", &one.name}, std::pair{"revision", &one.revision}, std::pair{"digest", &one.digest}})
        if (!value->empty())
            out[name] = *value;
    if (one.error)
        out["error"] = errorJson(*one.error);
    return out;
}

std::string describe(const json::value& report)
{
    TextTable table({"STATUS", "NAME", "FOLDER"});
    for (const json::value& item : itemsOf(report, "items"))
        table.add({textOf(item, "status"), textOf(item, "name"), textOf(item, "folder")});
    return table.text();
}

int statusOf(const std::map<std::string, std::uint64_t>& counts)
{
    if (counts.contains("invalid"))
        return kInvalidPackage;
    return counts.contains("failed") ? kRefused : kDone;
}

Result<int> importAll(Context& context, const Options& options)
{
    auto folders = skillFoldersBelow(options.folder);
    if (!folders)
        return forward(folders);
    auto api = context.api();
    if (!api)
        return forward(api);
    json::array items;
    std::map<std::string, std::uint64_t> counts;
    std::map<std::string, std::string> seen;
    for (const auto& folder : *folders) {
        context.console.progress(std::to_string(items.size() + 1) + " of " + std::to_string(folders->size()) + ": " +
                                 plain(folder.string()));
        const Imported one = importOne(**api, options, folder.string(), seen);
        context.console.endProgress();
        if (one.error && stopsEverything(*one.error))
            return std::unexpected(*one.error);
        if (one.error && !context.asJson())
            context.console.error(errorText(*one.error, one.folder));
        ++counts[one.status];
        items.push_back(jsonOf(one));
    }
    const json::value report = json::object{{"items", std::move(items)}, {"counts", json::value_from(counts)}};
    context.print(report, describe);
    return statusOf(counts);
}

} // namespace

void addSkillImport(Command& parent, Context& context)
{
    auto options = std::make_shared<Options>();
    Command command =
        parent.add("import", "Publish every skill below a folder that has changed; exit status 5 when one "
                             "is invalid, which stops no other");
    command.required("FOLDER", options->folder, "Folder that holds skill folders, at any depth");
    command.flag("--dry-run", options->dryRun, "Say what would be published, and publish nothing");
    command.flag("--copy-links", options->copyLinks, "Turn links that stay inside a skill's folder into copies");
    onCommand(command, context, std::move(options), importAll);
}

} // namespace assay::cli
