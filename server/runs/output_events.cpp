// SPDX-License-Identifier: Apache-2.0
#include "server/runs/output_events.h"

#include "server/core/base64.h"

#include <format>

namespace assay::runs {

void OutputEvents::onOutput(const sandbox::OutputChunk& chunk)
{
    const auto stream = chunk.stream == sandbox::OutputStream::Stdout ? "stdout" : "stderr";
    m_events.append("output",
                    std::format(R"({{"command":"{}","stream":"{}","seq":{},"t_ms":{},"data_base64":"{}"}})", m_command,
                                stream, chunk.seq, chunk.sinceStart.count(), toBase64(chunk.bytes)),
                    EventLog::Kind::Output);
}

} // namespace assay::runs
