// SPDX-License-Identifier: Apache-2.0
#include "app/cli/command.h"
#include "app/cli/local_package.h"

namespace assay::cli {

namespace {

struct Options
{
    std::string path;
    std::string name;
    bool copyLinks = false;
};

json::array problemArray(const std::vector<Problem>& problems)
{
    Error holder;
    holder.problems = problems;
    const json::object all = errorJson(holder);
    const auto* found = all.if_contains("errors");
    return found ? found->as_array() : json::array();
}

/// The shape of `POST /v1/skills/validate`, whose rules these are.
json::object verdictOf(const Result<LocalPackage>& read)
{
    if (!read)
        return {{"valid", false}, {"errors", problemArray(read.error().problems)}, {"lints", json::array()}};
    const registry::ValidPackage& package = read->package;
    return {{"valid", true},
            {"errors", json::array()},
            {"lints", problemArray(package.lints)},
            {"name", package.name},
            {"digest", package.digest.text()},
            {"file_count", package.files.size()},
            {"size_bytes", package.sizeBytes},
            {"ignored", json::value_from(package.ignored)}};
}

Result<int> validate(Context& context, const Options& options)
{
    context.folder = options.path;
    auto read = readLocalPackage(options.path, options.name, options.copyLinks ? Links::Copy : Links::Refuse);
    if (!read && (read.error().code != ErrorCode::InvalidPackage || !context.asJson()))
        return forward(read);
    const json::value verdict = verdictOf(read);
    context.print(verdict, [&](const json::value& value) {
        std::string out = plain(read->package.name) + " is valid\n";
        out += labelled("digest", textOf(value, "digest"));
        out += labelled("files",
                        std::to_string(numberOf(value, "file_count")) + ", " + sizeText(numberOf(value, "size_bytes")));
        for (const std::string& link : read->copiedLinks)
            out += labelled("copied link", link);
        for (const std::string& path : read->package.ignored)
            out += labelled("left out", path);
        const std::string lints = findingLines(value, "lints", read->folder);
        return out + (lints.empty() ? "" : "lints, which reject nothing:\n" + lints);
    });
    return read ? kDone : kInvalidPackage;
}

} // namespace

void addSkillValidate(Command& parent, Context& context)
{
    auto options = std::make_shared<Options>();
    Command command = parent.add("validate", "Check a folder or an archive by the registry's rules, without a server");
    command.required("PATH", options->path, "Folder, .zip, .tar or .tar.gz");
    command.option("--name", options->name, "Registry name; from SKILL.md when absent");
    command.flag("--copy-links", options->copyLinks, "Turn links that stay inside the folder into copies");
    onCommand(command, context, std::move(options), validate);
}

} // namespace assay::cli
