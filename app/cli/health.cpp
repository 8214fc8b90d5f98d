// SPDX-License-Identifier: Apache-2.0
#include "app/cli/command.h"

namespace assay::cli {

namespace {

struct Options
{
    bool handshake = false;
};

void addPart(TextTable& table, std::string_view kind, const json::value& part)
{
    std::string what = textOf(part, "reason");
    if (const std::string remedy = textOf(part, "remedy"); !remedy.empty())
        what += (what.empty() ? "" : "; ") + remedy;
    if (const std::string message = textOf(part, "last_handshake.message"); !message.empty())
        what += (what.empty() ? "" : "; ") + message;
    std::string handshake;
    if (memberOf(part, "last_handshake.passed"))
        handshake = isTrue(part, "last_handshake.passed") ? "passed" : "failed";
    table.add(
        {std::string(kind), textOf(part, "name"), textOf(part, "state"), textOf(part, "limits"), handshake, what});
}

std::string describe(const json::value& health)
{
    TextTable table({"PART", "NAME", "STATE", "LIMITS", "HANDSHAKE", "NOTE"});
    for (const json::value& driver : itemsOf(health, "drivers"))
        addPart(table, "driver", driver);
    for (const std::string_view part : {"store", "base", "gateway"})
        if (const json::value* one = memberOf(health, part))
            addPart(table, part, *one);
    return table.text();
}

bool isWell(const json::value& health)
{
    bool driver = false;
    for (const json::value& one : itemsOf(health, "drivers"))
        driver = driver || textOf(one, "state") == "ready";
    return driver && textOf(health, "store.state") == "ready";
}

Result<int> health(Context& context, const Options& options)
{
    auto api = context.api();
    if (!api)
        return forward(api);
    auto answer = options.handshake ? (*api)->post("/v1/health/handshake", json::object()) : (*api)->get("/v1/health");
    if (!answer)
        return forward(answer);
    context.print(answer->body, describe);
    return isWell(answer->body) ? kDone : kFailed;
}

} // namespace

void addHealth(Command& parent, Context& context)
{
    auto options = std::make_shared<Options>();
    Command command =
        parent.add("health", "Say what works; exit status 1 when no box can be made or the store is down");
    command.flag("--handshake", options->handshake, "Prove it now: run a real command in a real box");
    onCommand(command, context, std::move(options), health);
}

} // namespace assay::cli
