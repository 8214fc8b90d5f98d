// SPDX-License-Identifier: Apache-2.0
#include "app/cli/command.h"
#include "server/core/digest.h"

namespace assay::cli {

namespace {

constexpr std::uint64_t kManifestBytes = 64ULL << 20;

struct Options
{
    std::string run;
};

/// Prints the bytes that were hashed, with --json too: a pretty form would have another digest.
Result<int> manifest(Context& context, const Options& options)
{
    auto api = context.api();
    if (!api)
        return forward(api);
    auto response = (*api)->download(pathOf({"v1", "runs", options.run, "manifest"}), kManifestBytes);
    if (!response)
        return forward(response);
    std::string expected = response->header("etag");
    std::erase(expected, '"');
    if (const std::string digest = Digest::ofBytes(response->body).text(); digest != expected)
        return fail(ErrorCode::Internal, "the manifest's bytes are " + digest + ", its digest is " + expected);
    context.console.out(response->body);
    context.console.error(context.console.hasTerminal() ? "\n" + expected + "\n" : "");
    return kDone;
}

} // namespace

void addRunsManifest(Command& parent, Context& context)
{
    auto options = std::make_shared<Options>();
    Command command = parent.add("manifest", "Print a run's pinned manifest, checked against its digest");
    command.required("RUN", options->run);
    onCommand(command, context, std::move(options), manifest);
}

} // namespace assay::cli
