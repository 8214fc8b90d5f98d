// SPDX-License-Identifier: Apache-2.0
#include "server/retention/collection_schedule.h"

namespace assay::retention {

CollectionSchedule::CollectionSchedule(CollectionService& service, std::chrono::milliseconds interval, Report report)
    : m_service(service),
      m_interval(interval),
      m_report(std::move(report)),
      m_thread([this](const std::stop_token& stop) { loop(stop); })
{}

void CollectionSchedule::loop(const std::stop_token& stop)
{
    std::unique_lock lock(m_mutex);
    for (;;) {
        m_wake.wait_for(lock, stop, m_interval, [] { return false; });
        if (stop.stop_requested())
            return;
        m_report(m_service.collect(store::Removal::Real, stop));
    }
}

} // namespace assay::retention
