// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/sandbox/channel/protocol.h"

#include <cstdint>
#include <string_view>
#include <sys/types.h>

namespace assay::sandbox::init {

/// What a Run frame asks for. The strings live in the buffer that was decoded.
struct ExecRequest
{
    std::uint32_t umask = 022;
    std::uint64_t maxOpenFiles = 0; ///< 0: leave as it is
    std::uint64_t maxFileBytes = 0; ///< 0: no limit
    const char* directory = nullptr;
    char* const* arguments = nullptr;
    char* const* variables = nullptr;
    std::string_view searchPath; ///< PATH among the variables
};

/// Decodes the payload of CommandPart and Run frames in place. The arrays are static: one command at a time.
bool decodeExecRequest(std::string_view payload, ExecRequest& request, std::uint32_t& stdoutCredit,
                       std::uint32_t& stderrCredit);

struct ExecOutcome
{
    pid_t pid = -1; ///< the process, or -1 with the cause
    int error = 0;
    channel::ExecStage stage{};
};

/// Starts the process with `standard` as its descriptors 0, 1 and 2 and no other, in a session of its own. The caller
/// waits in the kernel until the program runs or its start has failed, so there is nothing in between to race with.
ExecOutcome startProcess(const ExecRequest& request, const int (&standard)[3]);

/// The signals that `assay-init` ignores and a command gets back with their default action.
inline constexpr int kIgnoredSignals[] = {1, 2, 3, 10, 12, 13, 14, 15};

} // namespace assay::sandbox::init
