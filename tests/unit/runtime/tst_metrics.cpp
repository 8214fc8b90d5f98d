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
    void asksForTheLoadWhenItIsRead();
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
    metrics.cached("database", 2, 1);
    metrics.denied("scope_header");
    metrics.materialized(std::chrono::milliseconds(3), 20'000);
    metrics.published(Metrics::Publish::Failed, "missing_skill_md");
    metrics.published(Metrics::Publish::Done, "created");
    metrics.commandEnded(std::chrono::milliseconds(30), "exited");
    metrics.collected("runs", 3, 100);
    const std::string text = metrics.exposition();
    for (const char* line :
         {R"(assay_package_cache_hits_total{backend="database"} 2)",
          R"(assay_access_denied_total{reason="scope_header"} 1)",
          R"(assay_publish_failures_total{code="missing_skill_md"} 1)", R"(assay_publishes_total{outcome="created"} 1)",
          "assay_command_seconds_count 1", R"(assay_collected_bytes_total{kind="runs"} 100)",
          "assay_materialization_bytes_sum 20000"})
        QVERIFY2(text.contains(line), line);
}

void TestMetrics::asksForTheLoadWhenItIsRead()
{
    Log log(LogLevel::Error);
    PrometheusMetrics metrics(log, [] {});
    unsigned asked = 0;
    metrics.sampleLoad([&] { return PrometheusMetrics::Load{.liveBoxes = ++asked, .queuedRuns = 7}; });
    QVERIFY(metrics.exposition().contains("assay_boxes_live 1"));
    const std::string text = metrics.exposition();
    QVERIFY(text.contains("assay_boxes_live 2") && text.contains("assay_runs_queued 7"));
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
