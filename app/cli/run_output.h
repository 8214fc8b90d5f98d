// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/cli/context.h"

namespace assay::cli {

/// Follows a run's event stream and writes the output of one command (or, with an empty id, of all) to standard output
/// and standard error, byte for byte, as it arrives. Ends with that command, or with the run.
class RunOutput
{
public:
    RunOutput(Context& context, ApiClient& api, std::string run, std::string command)
        : m_context(context), m_api(api), m_run(std::move(run)), m_command(std::move(command))
    {}

    /// `Cancelled` when the user interrupts.
    Result<void> follow();

private:
    bool take(const StreamEvent& event);
    bool takeOutput(const json::value& data);

    Context& m_context;
    ApiClient& m_api;
    std::string m_run;
    std::string m_command;
};

/// The exit status that a command's result asks for: its own when it exited, 1 when it was cut off.
int exitStatusOf(const json::value& command);

/// Why a command did not exit by itself, and how much of its output was dropped, in one or two lines; nothing for a
/// plain exit.
std::string cutOffText(const json::value& command);

/// A run in words: state, skills, digests, usage, artifacts and refused outputs.
std::string describeRun(const json::value& run);

} // namespace assay::cli
