// SPDX-License-Identifier: Apache-2.0
#include "server/core/json.h"
#include "server/core/request_context.h"
#include "server/runtime/log.h"
#include "tests/support/test_support.h"

#include <thread>

using namespace assay;
using namespace assay::runtime;

class TestLog : public QObject
{
    Q_OBJECT

private slots:
    void aLineForPeopleHoldsItsFields();
    void aLineForProgramsIsOneJsonObject();
    void noEventForgesALine();
    void requestsAreKnownToTheirThreadOnly();
};

namespace {

const Timestamp kTime = parseTimestamp("2026-11-30T12:00:00.000Z").value();

} // namespace

void TestLog::aLineForPeopleHoldsItsFields()
{
    QCOMPARE(logRecord(LogFormat::Text, LogLevel::Info, kTime, "stopping", {}),
             "2026-11-30T12:00:00.000Z info stopping");
    QCOMPARE(logRecord(LogFormat::Text, LogLevel::Warning, kTime, "answered",
                       {.request = "req_1",
                        .run = "run_1",
                        .method = "GET",
                        .route = "/v1/runs/{id}",
                        .status = 503,
                        .took = std::chrono::microseconds(7)}),
             "2026-11-30T12:00:00.000Z warning answered GET /v1/runs/{id} 503 7us run=run_1 request=req_1");
}

void TestLog::aLineForProgramsIsOneJsonObject()
{
    const std::string line = logRecord(LogFormat::Json, LogLevel::Error, kTime, "lost \"it\"\n\xff",
                                       {.request = "req_1", .status = 500, .took = std::chrono::microseconds(7)});
    QVERIFY(!line.contains('\n'));
    const auto value = parseJson(line);
    ASSAY_OK(value);
    QCOMPARE(value->at("time").as_string(), "2026-11-30T12:00:00.000Z");
    QCOMPARE(value->at("level").as_string(), "error");
    QCOMPARE(value->at("message").as_string(), "lost \"it\"\\u000a\\xff");
    QCOMPARE(value->at("request").as_string(), "req_1");
    QCOMPARE(value->at("duration_us").as_int64(), 7);
    QVERIFY(!value->as_object().contains("run"));
}

void TestLog::noEventForgesALine()
{
    for (const LogFormat format : {LogFormat::Text, LogFormat::Json}) {
        const std::string line = logRecord(format, LogLevel::Info, kTime,
                                           "a\n2026-11-30T12:00:00.000Z error forged\r\x1b[2J\u2028", {.run = "x\ny"});
        QVERIFY2(line.find_first_of("\n\r\x1b") == std::string::npos, line.c_str());
        QVERIFY(!line.contains("\u2028"));
    }
    QVERIFY(logRecord(LogFormat::Json, LogLevel::Info, kTime, std::string(100'000, 'x'), {}).size() < 5'000);
}

void TestLog::requestsAreKnownToTheirThreadOnly()
{
    QVERIFY(RequestContext::current().empty());
    const RequestContext outer("req_outer");
    {
        const RequestContext inner("req_inner");
        QCOMPARE(RequestContext::current(), std::string_view("req_inner"));
        std::string seen = "none";
        std::thread([&] { seen = RequestContext::current(); }).join();
        QCOMPARE(seen, "");
    }
    QCOMPARE(RequestContext::current(), std::string_view("req_outer"));
}

QTEST_APPLESS_MAIN(TestLog)
#include "tst_log.moc"
