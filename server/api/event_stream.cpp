// SPDX-License-Identifier: Apache-2.0
#include "server/api/event_stream.h"

namespace assay::api {

EventSource::Batch RunEventSource::read(std::size_t maxEvents)
{
    runs::EventCursor::Batch batch = m_cursor->read(maxEvents);
    Batch out{.events = {}, .ended = batch.ended};
    out.events.reserve(batch.events.size());
    for (runs::RunEvent& event : batch.events)
        out.events.push_back({event.id, std::move(event.type), std::move(event.data)});
    return out;
}

} // namespace assay::api
