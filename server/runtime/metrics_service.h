// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/api/exchange.h"
#include "server/runtime/prometheus_metrics.h"

#include <memory>

namespace assay::runtime {

/// `GET /metrics` and nothing else, for the operator's own listener: no token, so whoever reaches it may read it.
class MetricsService final : public api::Service
{
public:
    explicit MetricsService(const PrometheusMetrics& metrics) : m_metrics(metrics) {}
    std::expected<std::unique_ptr<api::Admitted>, api::Reply> admit(api::RequestHead head) override;
    api::Reply problem(const Error& error) override;

private:
    const PrometheusMetrics& m_metrics;
};

} // namespace assay::runtime
