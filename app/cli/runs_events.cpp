// SPDX-License-Identifier: Apache-2.0
#include "app/cli/command.h"
#include "server/core/base64.h"

namespace assay::cli {

namespace {

struct Options
{
    std::string run;
};

std::string describe(const StreamEvent& event)
{
    auto data = parseJson(event.data);
    if (!data)
        return event.id + "  " + plain(event.type) + '\n';
    if (event.type != "output")
        return event.id + "  " + plain(event.type) + "  " + plain(json::serialize(*data)) + '\n';
    const std::string bytes = fromBase64(textOf(*data, "data_base64")).value_or("");
    return event.id + "  " + plain(textOf(*data, "stream")) + "  " + std::to_string(numberOf(*data, "t_ms")) + " ms  " +
           plain(bytes) + '\n';
}

Result<int> events(Context& context, const Options& options)
{
    auto api = context.api();
    if (!api)
        return forward(api);
    auto read = (*api)->events(pathOf({"v1", "runs", options.run, "events"}), [&](const StreamEvent& event) {
        if (context.asJson()) {
            auto data = parseJson(event.data);
            const json::object line{
                {"id", event.id}, {"event", event.type}, {"data", data ? *data : json::value(event.data)}};
            context.console.out(json::serialize(line) + '\n');
        } else {
            context.console.out(describe(event));
        }
        return event.type != "end" && !context.console.outputBroken();
    });
    if (!read)
        return forward(read);
    return kDone;
}

} // namespace

void addRunsEvents(Command& parent, Context& context)
{
    auto options = std::make_shared<Options>();
    Command command = parent.add("events", "Print a run's events from the first on, live until it ends; one a line");
    command.required("RUN", options->run);
    onCommand(command, context, std::move(options), events);
}

} // namespace assay::cli
