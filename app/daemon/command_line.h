// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/runtime/settings.h"

#include <optional>

namespace assay::daemon {

/// What the command line asks for: settings, or an exit status when all is said (--help, --version, a usage error).
struct CommandLine
{
    runtime::SettingSources sources;
    std::optional<int> exitStatus;
};

/// Reads arguments and the environment; prints help and usage errors itself. A usage error exits with 2.
CommandLine readCommandLine(int argc, char** argv);

} // namespace assay::daemon
