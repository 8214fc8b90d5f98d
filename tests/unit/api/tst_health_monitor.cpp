// SPDX-License-Identifier: Apache-2.0
#include "server/api/health_monitor.h"
#include "tests/support/test_support.h"

using namespace assay;
using namespace assay::api;

class TestHealthMonitor : public QObject
{
    Q_OBJECT

private slots:
    void nothingIsReadyBeforeItsHandshake();
    void aPassedHandshakeMakesADriverReady();
    void aFailedHandshakeTellsWhy();
    void aDriverThatCannotWorkIsNotTried();
    void readyFollowsTheStoreOnly();
};

namespace {

class FakeParts final : public HealthMonitor::Parts
{
public:
    std::vector<std::string> drivers() override { return {"bubblewrap"}; }
    contract::PartHealth probe(const std::string& driver) override
    {
        return {.name = driver, .state = driverState, .reason = driverReason, .remedy = "repair", .limits = "hard"};
    }
    Result<std::string> prove(const std::string&) override
    {
        ++proofs;
        if (!works)
            return fail(ErrorCode::Unavailable, "it said nothing");
        return "it answered";
    }
    contract::PartHealth store() override { return {.name = "store", .state = storeState, .reason = "full"}; }
    contract::PartHealth base() override { return {.name = "base", .state = "ready"}; }
    contract::PartHealth gateway() override { return {.name = "gateway", .state = "disabled"}; }

    std::string driverState = "ready";
    std::string driverReason;
    std::string storeState = "ready";
    bool works = true;
    int proofs = 0;
};

} // namespace

void TestHealthMonitor::nothingIsReadyBeforeItsHandshake()
{
    FakeParts parts;
    const test::FakeClock clock;
    HealthMonitor monitor(parts, clock);
    const auto health = monitor.report();
    QCOMPARE(health.drivers.front().state, "unavailable");
    QVERIFY(!health.drivers.front().remedy.empty());
    QVERIFY(!health.drivers.front().lastHandshake);
    QCOMPARE(parts.proofs, 0);
}

void TestHealthMonitor::aPassedHandshakeMakesADriverReady()
{
    FakeParts parts;
    const test::FakeClock clock;
    HealthMonitor monitor(parts, clock);
    QCOMPARE(monitor.handshake().value().drivers.front().state, "ready");
    const auto health = monitor.report();
    QCOMPARE(health.drivers.front().state, "ready");
    QVERIFY(health.drivers.front().lastHandshake->passed);
    QCOMPARE(parts.proofs, 1);
}

void TestHealthMonitor::aFailedHandshakeTellsWhy()
{
    FakeParts parts;
    const test::FakeClock clock;
    HealthMonitor monitor(parts, clock);
    ASSAY_OK(monitor.handshake());
    parts.works = false;
    const auto driver = monitor.handshake().value().drivers.front();
    QCOMPARE(driver.state, "unavailable");
    QCOMPARE(driver.reason, "it said nothing");
    QCOMPARE(driver.remedy, "repair");
    QVERIFY(!driver.lastHandshake->passed);
}

void TestHealthMonitor::aDriverThatCannotWorkIsNotTried()
{
    FakeParts parts;
    parts.driverState = "disabled";
    parts.driverReason = "switched off";
    const test::FakeClock clock;
    HealthMonitor monitor(parts, clock);
    const auto driver = monitor.handshake().value().drivers.front();
    QCOMPARE(driver.state, "disabled");
    QCOMPARE(driver.reason, "switched off");
    QCOMPARE(parts.proofs, 0);
}

void TestHealthMonitor::readyFollowsTheStoreOnly()
{
    FakeParts parts;
    parts.works = false;
    const test::FakeClock clock;
    HealthMonitor monitor(parts, clock);
    ASSAY_OK(monitor.ready());
    parts.storeState = "unavailable";
    ASSAY_FAILS(monitor.ready(), ErrorCode::Unavailable);
}

QTEST_APPLESS_MAIN(TestHealthMonitor)
#include "tst_health_monitor.moc"
