// SPDX-License-Identifier: Apache-2.0
#include "app/cli/command.h"
#include "app/cli/local_package.h"

namespace assay::cli {

namespace {

struct Options
{
    std::string path;
    bool copyLinks = false;
};

Result<int> printDigest(Context& context, const Options& options)
{
    context.folder = options.path;
    auto read = readLocalPackage(options.path, {}, options.copyLinks ? Links::Copy : Links::Refuse);
    if (!read)
        return forward(read);
    const json::value answer{{"digest", read->package.digest.text()}, {"name", read->package.name}};
    context.print(answer, [](const json::value& value) { return textOf(value, "digest") + '\n'; });
    return kDone;
}

} // namespace

void addDigest(Command& parent, Context& context)
{
    auto options = std::make_shared<Options>();
    Command command = parent.add("digest", "Print the canonical digest of a skill, without a server");
    command.required("PATH", options->path, "Folder, .zip, .tar or .tar.gz");
    command.flag("--copy-links", options->copyLinks, "Turn links that stay inside the folder into copies");
    onCommand(command, context, std::move(options), printDigest);
}

} // namespace assay::cli
