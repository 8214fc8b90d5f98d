// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/retention/collection_service.h"

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace assay::retention {

/// Collects every `interval` on a thread of its own, the first time after one interval. Ends, also within a collection,
/// when it is destroyed.
class CollectionSchedule
{
public:
    /// Is told of every collection; on the schedule's thread.
    using Report = std::function<void(const Result<contract::CollectionReport>&)>;

    CollectionSchedule(CollectionService& service, std::chrono::milliseconds interval, Report report);

private:
    void loop(const std::stop_token& stop);

    CollectionService& m_service;
    const std::chrono::milliseconds m_interval;
    const Report m_report;
    std::mutex m_mutex;
    std::condition_variable_any m_wake;
    std::jthread m_thread; ///< last: it ends before what it uses
};

} // namespace assay::retention
