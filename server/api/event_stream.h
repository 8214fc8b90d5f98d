// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/api/exchange.h"
#include "server/runs/run_service.h"

namespace assay::api {

/// A run's events as an event stream: the cursor's events, unchanged.
class RunEventSource final : public EventSource
{
public:
    explicit RunEventSource(std::unique_ptr<runs::EventCursor> cursor) : m_cursor(std::move(cursor)) {}
    Batch read(std::size_t maxEvents) override;
    void onReady(std::function<void()> notify) override { m_cursor->onReady(std::move(notify)); }

private:
    std::unique_ptr<runs::EventCursor> m_cursor;
};

} // namespace assay::api
