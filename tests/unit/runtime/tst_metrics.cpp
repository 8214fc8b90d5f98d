// SPDX-License-Identifier: Apache-2.0
#include "server/runtime/metrics_service.h"
#include "tests/support/test_support.h"

using namespace assay;
using namespace assay::runtime;

class TestMetrics : public QObject
{
    Q_OBJECT

private slots:
    void countsRequestsByRouteTemplate();
    void countsWhatServicesTell();
    void servesNothingButMetrics();
    void tellsOfAFatalFailure();
};

void TestMetrics::countsRequestsByRouteTemplate()
{
    Log log(LogLevel::Error);
    PrometheusMetrics metrics(log, [] {});
    for (int i = 0; i < 3; ++i)
        metrics.onRequest({.method = "GET",
                           .route = "/v1/skills/{name}",
                           .status = 200,
                           .duration = std::chrono::milliseconds(2),
                           .bytesOut = 10});
    metrics.onRefused("rate");
    metrics.onConnections(+1);
    const std::string text = metrics.exposition();
    QVERIFY2(text.contains(R"(assay_http_requests_total{method="GET",route="/v1/skills/{name}",status="200"} 3)"),
             text.c_str());
    QVERIFY(text.contains(R"(assay_http_request_seconds_count{method="GET",route="/v1/skills/{name}"} 3)"));
    QVERIFY(text.contains(R"(assay_http_refused_total{reason="rate"} 1)"));
    QVERIFY(text.contains("assay_http_connections 1") && text.contains("assay_http_bytes_sent_total 30"));
}

void TestMetrics::countsWhatServicesTell()
{
    Log log(LogLevel::Error);
    PrometheusMetrics metrics(log, [] {});
    QVERIFY2(!metrics.exposition().contains("assay_package_cache"), "what nobody counts is not shown as zero");
    metrics.add(Count::CacheHit, 2);
    metrics.add(Count::CrossScopeDenied, 1);
    metrics.materialized(std::chrono::milliseconds(3), 20'000);
    const std::string text = metrics.exposition();
    QVERIFY(text.contains("assay_package_cache_hits_total 2") && text.contains("assay_cross_scope_denied_total 1"));
    QVERIFY(text.contains("assay_materialization_bytes_sum 20000"));
}

void TestMetrics::servesNothingButMetrics()
{
    Log log(LogLevel::Error);
    const PrometheusMetrics metrics(log, [] {});
    MetricsService service(metrics);
    api::RequestHead head;
    head.segments = {"metrics"};
    auto admitted = service.admit(head);
    QVERIFY(admitted.has_value());
    QVERIFY(std::get<std::string>((*admitted)->handle({}).body).contains("assay_http_connections"));
    head.method = api::Method::Post;
    QCOMPARE(service.admit(head).error().status, 405);
    head.segments = {"v1", "skills"};
    QCOMPARE(service.admit(head).error().status, 404);
}

void TestMetrics::tellsOfAFatalFailure()
{
    Log log(LogLevel::Error);
    int told = 0;
    PrometheusMetrics metrics(log, [&] { ++told; });
    metrics.onFatal("planted");
    QCOMPARE(told, 1);
}

QTEST_APPLESS_MAIN(TestMetrics)
#include "tst_metrics.moc"
