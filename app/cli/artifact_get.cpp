// SPDX-License-Identifier: Apache-2.0
#include "app/cli/command.h"
#include "server/core/digest.h"

namespace assay::cli {

namespace {

constexpr std::uint64_t kArtifactBytes = 1ULL << 30;

struct Options
{
    std::string id;
    std::string output;
    bool force = false;
};

/// The last part of the artifact's path; its characters were chosen by a script, so an odd one is not used as a name.
std::string fileNameOf(const json::value& artifact)
{
    const std::string path = textOf(artifact, "path");
    const std::string name = path.substr(path.rfind('/') + 1);
    return name.empty() || name == "." || name == ".." || plain(name) != name ? textOf(artifact, "id") : name;
}

Result<int> get(Context& context, const Options& options)
{
    auto api = context.api();
    if (!api)
        return forward(api);
    auto artifact = (*api)->get(pathOf({"v1", "artifacts", options.id}));
    if (!artifact)
        return forward(artifact);
    auto content = (*api)->download(pathOf({"v1", "artifacts", options.id, "content"}), kArtifactBytes);
    if (!content)
        return forward(content);
    const std::string digest = Digest::ofBytes(content->body).text();
    if (digest != textOf(artifact->body, "sha256"))
        return fail(ErrorCode::Internal, "the artifact's bytes are " + digest + ", not " +
                                             textOf(artifact->body, "sha256") + "; nothing was written");
    if (options.output == "-") {
        context.console.out(content->body);
        return kDone;
    }
    const std::string path = options.output.empty() ? fileNameOf(artifact->body) : options.output;
    if (auto written = writeOutput(path, content->body, options.force ? Existing::Replace : Existing::Refuse); !written)
        return forward(written);
    context.print(artifact->body, [&](const json::value& value) {
        return "wrote " + plain(path) + " (" + sizeText(content->body.size()) + ")\n" +
               labelled("sha256", textOf(value, "sha256"));
    });
    return kDone;
}

} // namespace

void addArtifactGet(Command& parent, Context& context)
{
    auto options = std::make_shared<Options>();
    Command command = parent.add("get", "Write an artifact to a file, checked against its digest");
    command.required("ID", options->id);
    command.option("-o,--output", options->output,
                   "File to write, or - for standard output; the artifact's own name when absent");
    command.flag("--force", options->force, "Replace an existing file");
    onCommand(command, context, std::move(options), get);
}

} // namespace assay::cli
