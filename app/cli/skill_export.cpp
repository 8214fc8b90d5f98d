// SPDX-License-Identifier: Apache-2.0
#include "app/cli/command.h"
#include "app/cli/local_package.h"
#include "server/core/file_io.h"

namespace assay::cli {

namespace {

constexpr std::uint64_t kArchiveBytes = 256ULL << 20;

struct Options
{
    std::string name;
    std::string revision;
    std::string format;
    std::string output;
    bool force = false;
};

std::string digestOf(const HttpResponse& response)
{
    std::string tag = response.header("etag");
    std::erase(tag, '"');
    return tag.substr(0, tag.find(';'));
}

/// Takes the archive apart again and compares: what is written is what the registry has.
Result<void> verify(const HttpResponse& response, const Options& options)
{
    const auto kind = options.format == "zip" ? registry::ArchiveKind::Zip : registry::ArchiveKind::TarGz;
    auto file = openUnnamedFile(std::filesystem::temp_directory_path());
    if (!file)
        return forward(file);
    if (auto written = writeAll(file->get(), response.body); !written)
        return written;
    auto source = registry::readArchive(file->get(), kind, {}, std::filesystem::temp_directory_path());
    if (!source)
        return forward(source);
    auto package = registry::validatePackage(std::move(*source), options.name, {});
    if (!package)
        return forward(package);
    if (const std::string expected = digestOf(response); package->digest.text() != expected)
        return fail(ErrorCode::Internal, "the archive's content is " + package->digest.text() +
                                             ", not the revision's " + expected + "; nothing was written");
    return {};
}

Result<int> exportSkill(Context& context, const Options& options)
{
    auto api = context.api();
    if (!api)
        return forward(api);
    const std::string target = pathOf({"v1", "skills", options.name, "revisions", options.revision, "archive"}) +
                               queryOf({{"format", options.format}});
    auto response = (*api)->download(target, kArchiveBytes);
    if (!response)
        return forward(response);
    if (auto same = verify(*response, options); !same)
        return forward(same);
    if (options.output == "-") {
        context.console.out(response->body);
        return kDone;
    }
    const std::string path = options.output.empty() ? options.name + "." + options.format : options.output;
    if (auto written = writeOutput(path, response->body, options.force ? Existing::Replace : Existing::Refuse);
        !written)
        return forward(written);
    const json::value answer{{"file", path}, {"digest", digestOf(*response)}, {"size_bytes", response->body.size()}};
    context.print(answer, [&](const json::value& value) {
        return "wrote " + path + " (" + sizeText(response->body.size()) + ")\n" +
               labelled("digest", textOf(value, "digest"));
    });
    return kDone;
}

} // namespace

void addSkillExport(Command& parent, Context& context)
{
    auto options = std::make_shared<Options>();
    options->revision = "current";
    options->format = "tar.gz";
    Command command = parent.add("export", "Write a revision to an archive, and check it against its digest");
    command.required("NAME", options->name);
    command.option("--revision", options->revision, "Id of a revision");
    command.choice("--format", options->format, "", {"tar.gz", "zip"});
    command.option("-o,--output", options->output, "File to write, or - for standard output; NAME.FORMAT when absent");
    command.flag("--force", options->force, "Replace an existing file");
    onCommand(command, context, std::move(options), exportSkill);
}

} // namespace assay::cli
