// SPDX-License-Identifier: Apache-2.0
#include "server/runtime/metrics_service.h"

#include "server/core/json.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace assay::runtime {

namespace {

class Scrape final : public api::Admitted
{
public:
    explicit Scrape(const PrometheusMetrics& metrics) : m_metrics(metrics) {}
    std::string_view route() const override { return "/metrics"; }
    api::BodyPolicy bodyPolicy() const override { return {}; }
    api::Reply handle(api::Body) override
    {
        api::Reply reply{.headers = {{"Content-Type", "text/plain; version=0.0.4; charset=utf-8"}}, .body = {}};
        reply.body = m_metrics.exposition();
        return reply;
    }

private:
    const PrometheusMetrics& m_metrics;
};

} // namespace

std::expected<std::unique_ptr<api::Admitted>, api::Reply> MetricsService::admit(api::RequestHead head)
{
    const bool isRead = head.method == api::Method::Get || head.method == api::Method::Head;
    if (head.segments != std::vector<std::string>{"metrics"})
        return std::unexpected(problem(Error{ErrorCode::NotFound, "this listener serves /metrics only", {}, {}, {}}));
    if (!isRead) {
        api::Reply refusal = problem(Error{ErrorCode::MethodNotAllowed, "metrics are read with GET", {}, {}, {}});
        refusal.headers.emplace_back("Allow", "GET, HEAD");
        return std::unexpected(std::move(refusal));
    }
    return std::make_unique<Scrape>(m_metrics);
}

api::Reply MetricsService::problem(const Error& error)
{
    const ErrorTraits& row = traits(error.code);
    api::Reply reply{.status = row.httpStatus, .headers = {{"Content-Type", "application/problem+json"}}, .body = {}};
    reply.body = json::serialize(json::object{{"type", "about:blank"},
                                              {"title", row.title},
                                              {"status", row.httpStatus},
                                              {"code", row.code},
                                              {"detail", error.message}});
    return reply;
}

} // namespace assay::runtime
