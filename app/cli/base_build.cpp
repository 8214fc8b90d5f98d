// SPDX-License-Identifier: Apache-2.0
#include "app/cli/command.h"
#include "app/cli/local_data.h"
#include "server/sandbox/base/base_store.h"

#include <thread>

namespace assay::cli {

namespace {

struct Options
{
    std::string data;
};

/// Turns the interrupt flag, which a signal handler sets, into a stop request.
std::jthread watchInterrupt(const std::atomic<bool>* interrupted, std::stop_source& source)
{
    return std::jthread([interrupted, &source](const std::stop_token& ended) {
        while (!ended.stop_requested() && !source.stop_requested()) {
            if (interrupted && interrupted->load())
                source.request_stop();
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
        }
    });
}

Result<int> build(Context& context, const Options& options)
{
    auto path = madeDataDirectory(options.data);
    if (!path)
        return forward(path);
    std::stop_source cancel;
    const std::jthread watcher = watchInterrupt(context.interrupted(), cancel);
    auto base = sandbox::base::buildBase(
        *path, [&](std::string_view line) { context.console.progress(line); }, cancel.get_token());
    if (!base)
        return forward(base);
    const json::value answer{{"digest", base->digest},
                             {"created_at", formatTimestamp(base->createdAt)},
                             {"size_bytes", base->sizeBytes},
                             {"files", base->files},
                             {"packages", json::value_from(base->packages)}};
    context.print(answer, [&](const json::value& value) {
        return "base " + base->digest + '\n' + labelled("files", std::to_string(base->files)) +
               labelled("size", sizeText(numberOf(value, "size_bytes"))) +
               labelled("packages", std::to_string(base->packages.size())) +
               "new runs use it from now on, also those of a running server\n";
    });
    return kDone;
}

} // namespace

void addBaseBuild(Command& parent, Context& context)
{
    auto options = std::make_shared<Options>();
    Command command = parent.add("build", "Build the pinned root that boxes are made of; some minutes");
    command.option("--data", options->data, "Data directory [ASSAY_DATA]");
    onCommand(command, context, std::move(options), build);
}

} // namespace assay::cli
