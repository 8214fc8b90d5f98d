// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/runs/event_log.h"
#include "server/sandbox/box_spec.h"

#include <string>

namespace assay::runs {

/// Turns the output of one command into `output` events as it arrives (api.md: `{command, stream, seq, t_ms,
/// data_base64}`). One command, one thread.
class OutputEvents final : public sandbox::OutputSink
{
public:
    OutputEvents(EventLog& events, std::string command) : m_events(events), m_command(std::move(command)) {}
    void onOutput(const sandbox::OutputChunk& chunk) override;

private:
    EventLog& m_events;
    const std::string m_command;
};

} // namespace assay::runs
