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

    void onRequest(const Request& request) override;
    void onConnections(int delta) override;
    void onEventStreams(int delta) override;
    void onRefused(std::string_view reason) override;
    void onFault(std::string_view what) override;
    void onFatal(std::string_view what) override;

    void add(Count what, std::uint64_t by) override;
    void materialized(std::chrono::nanoseconds took, std::uint64_t bytes) override;

private:
    struct State;
    std::unique_ptr<State> m_state;
};

} // namespace assay::runtime
