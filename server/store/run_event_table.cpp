// SPDX-License-Identifier: Apache-2.0
#include "server/store/run_event_table.h"

namespace assay::store {

Result<void> RunEventTable::put(std::string_view fingerprint, std::string_view run, std::string_view events)
{
    if (events.size() > kMaxBytes)
        return fail(ErrorCode::TooLarge, "the events of a run are larger than " + std::to_string(kMaxBytes) + " bytes");
    auto query = m_connection.prepare("INSERT INTO run_events(fingerprint, run, events) VALUES(?, ?, ?)"
                                      " ON CONFLICT(fingerprint, run) DO UPDATE SET events = excluded.events");
    if (!query)
        return forward(query);
    return query->bind(fingerprint).bind(run).bindBlob(events).run();
}

Result<std::optional<std::string>> RunEventTable::find(std::string_view fingerprint, std::string_view run)
{
    auto query = m_connection.prepare("SELECT events FROM run_events WHERE fingerprint = ? AND run = ?");
    if (!query)
        return forward(query);
    const auto found = query->bind(fingerprint).bind(run).step();
    if (!found)
        return std::unexpected(found.error());
    return *found ? std::optional(std::string(query->blob(0))) : std::nullopt;
}

} // namespace assay::store
