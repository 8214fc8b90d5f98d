// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/error.h"

#include <functional>
#include <string>
#include <string_view>

namespace assay::cli {

/// One event of a `text/event-stream` (WHATWG HTML, "Server-sent events").
struct StreamEvent
{
    std::string id; ///< the last id that the stream gave
    std::string type = "message";
    std::string data;
};

/// Takes an event stream apart, however its bytes are cut. Comments (heartbeats) vanish. Limits: a line and an event's
/// data have 4 MiB at most. One thread at a time.
class EventStreamReader
{
public:
    /// `each` returns false to end; `feed` then returns false too. `TooLarge` above a limit.
    Result<bool> feed(std::string_view bytes, const std::function<bool(const StreamEvent&)>& each);

    const std::string& lastId() const { return m_lastId; }
    /// Forgets a half-read event: what a new connection sends begins afresh. The last id stays.
    void restart();

private:
    bool takeLine(std::string_view line, const std::function<bool(const StreamEvent&)>& each);

    std::string m_line;
    std::string m_lastId; ///< of the last whole event
    std::string m_nextId; ///< of the one that is being read
    std::string m_type;
    std::string m_data;
    bool m_hasData = false;
    bool m_afterReturn = false;
};

} // namespace assay::cli
