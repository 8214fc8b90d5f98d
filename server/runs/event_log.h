// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/error.h"
#include "server/runs/run_service.h"

#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace assay::runs {

/// The events of one run, in order, numbered from 1 without gaps: grows while the run lives, frozen at its end, stored
/// as one text, and read back into the same form. A reader that started live reads on from the same object after the
/// end, so nothing is lost or repeated. Output above `kMaxOutputBytes` of event data is left out and counted in one
/// `output_omitted` event. Thread-safe.
class EventLog : public std::enable_shared_from_this<EventLog>
{
public:
    static constexpr std::size_t kMaxOutputBytes = 8U << 20; ///< of `output` events' JSON, per run
    static constexpr std::size_t kMaxEvents = 200'000;       ///< of all kinds, per run

    enum class Kind : std::uint8_t { Essential, Output };

    /// Adds an event; ignored after `prepareEnd`. `data` is one line of JSON.
    void append(std::string_view type, std::string data, Kind kind = Kind::Essential);

    /// Takes the last event, closes the log for others, and gives the stored form (docs/runs.md: one line per event,
    /// `type SP data LF`). Readers see the end with `publishEnd` only, so that what they see as ended is durable.
    std::string prepareEnd(std::string data);
    void publishEnd();

    /// A frozen log of that form. `Internal` when it is not.
    static Result<std::shared_ptr<EventLog>> fromText(std::string_view text);

    /// A frozen log that tells the end only: for a run whose events were lost, or that had none.
    static std::shared_ptr<EventLog> ofEnd(std::string_view state, std::string_view reason);

    /// Reads from the event after `lastId`. The cursor keeps the log alive.
    std::unique_ptr<EventCursor> cursor(std::uint64_t lastId);

private:
    struct Waiter;
    class Cursor;
    static void wake(const std::vector<std::shared_ptr<Waiter>>& waiters);

    mutable std::mutex m_mutex;
    std::vector<RunEvent> m_events;
    std::size_t m_outputBytes = 0;
    std::uint64_t m_omittedEvents = 0;
    std::vector<RunEvent> m_last; ///< prepared, not yet seen by readers
    bool m_closed = false;
    bool m_frozen = false;
    std::vector<std::shared_ptr<Waiter>> m_waiters;
};

} // namespace assay::runs
