// SPDX-License-Identifier: Apache-2.0
#include "app/cli/command.h"

#include <csignal>
#include <cstdlib>
#include <unistd.h>

namespace {

std::atomic<bool> g_interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler sets it");

/// The first interrupt lets the command end well; the second ends the program.
void onInterrupt(int)
{
    if (g_interrupted.exchange(true))
        ::_exit(130);
}

void handleSignals()
{
    struct sigaction action{};
    action.sa_handler = onInterrupt;
    ::sigaction(SIGINT, &action, nullptr);
    ::sigaction(SIGTERM, &action, nullptr);
    std::signal(SIGPIPE, SIG_IGN);
}

int runCommand(assay::cli::Context& context)
{
    auto status = context.action();
    context.console.endProgress();
    if (status)
        return context.console.outputBroken() ? assay::cli::kFailed : *status;
    const assay::Error& error = status.error();
    context.console.error(context.asJson() ? assay::cli::prettyJson(assay::cli::errorJson(error))
                                           : assay::cli::errorText(error, context.folder));
    return assay::traits(error.code).exitStatus;
}

} // namespace

int main(int argc, char** argv)
{
    handleSignals();
    assay::cli::Context context(&g_interrupted);
    const auto parsed = assay::cli::parseCommandLine(
        argc, argv, ASSAY_VERSION, [&context](assay::cli::Command& root) { assay::cli::addCommands(root, context); });
    if (!parsed.run)
        return parsed.exitStatus;
    return context.action ? runCommand(context) : assay::cli::kUsage;
}
