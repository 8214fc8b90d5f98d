// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/metrics.h"
#include "server/http/observer.h"
#include "server/runtime/log.h"

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace assay::runtime {

/// The process' metrics in the Prometheus text format, fed by the HTTP server and by services, and the log lines that
/// go with them. Labels are methods, route templates, statuses and closed sets of reasons: never a path, a name or a
/// scope. A family appears with its first event. Thread-safe.
class PrometheusMetrics final : public http::Observer, public Metrics
{
public:
    /// `onFatal` is called when the server can no longer serve; the process should end with a failure.
    PrometheusMetrics(Log& log, std::function<void()> onFatal);
    ~PrometheusMetrics() override;

    /// The exposition, text format 0.0.4.
    std::string exposition() const;

    /// What is measured by asking, at each exposition: runs with a box, and runs that wait
    /// for one. Set once the services exist, reset (empty) before they end.
    struct Load
    {
        unsigned liveBoxes = 0;
        unsigned queuedRuns = 0;
    };
    void sampleLoad(std::function<Load()> sample);

    void onRequest(const Request& request) override;
    void onConnections(int delta) override;
    void onEventStreams(int delta) override;
    void onRefused(std::string_view reason) override;
    void onFault(std::string_view what) override;
    void onFatal(std::string_view what) override;

    void add(Count what, std::uint64_t by) override;
    void published(Publish how, std::string_view outcome) override;
    void cached(std::string_view backend, std::uint64_t hits, std::uint64_t misses) override;
    void materialized(std::chrono::nanoseconds took, std::uint64_t bytes) override;
    void commandEnded(std::chrono::milliseconds took, std::string_view termination) override;
    void runEnded(std::string_view state) override;
    void denied(std::string_view reason) override;
    void collected(std::string_view kind, std::uint64_t count, std::uint64_t bytes) override;
    void collection(std::chrono::nanoseconds took, bool complete) override;

private:
    struct State;
    std::unique_ptr<State> m_state;
};

} // namespace assay::runtime
