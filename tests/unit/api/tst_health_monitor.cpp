// SPDX-License-Identifier: Apache-2.0
#include "server/api/health_monitor.h"
#include "tests/support/test_support.h"

#include <thread>

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
    void readyFollowsStoreAndHandshake();
    void readyBelievesAHandshakeForSomeSeconds();
    void whoComesMeanwhileSharesTheHandshake();
    void handshakesAreRecorded();
    void readyNeverWaitsForAHandshake();
    void aPersonsHandshakeThatCannotBeRecordedFails();
    void whoSharesAHandshakeIsRecordedToo();
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
        std::this_thread::sleep_for(takes);
        if (!works)
            return fail(ErrorCode::Unavailable, "it said nothing");
        return "it answered";
    }
    Result<void> record(const auth::Identity* by, const contract::PartHealth& part) override
    {
        if (!canRecord)
            return fail(ErrorCode::Unavailable, "the ledger is full");
        recorded.push_back((by ? by->principal : "server") + " " + part.state);
        return {};
    }
    contract::PartHealth store() override { return {.name = "store", .state = storeState, .reason = "full"}; }
    contract::PartHealth base() override { return {.name = "base", .state = "ready"}; }
    contract::PartHealth gateway() override { return {.name = "gateway", .state = "disabled"}; }

    std::string driverState = "ready";
    std::string driverReason;
    std::string storeState = "ready";
    bool works = true;
    std::atomic<int> proofs{0};
    std::chrono::milliseconds takes{0};
    bool canRecord = true;
    std::vector<std::string> recorded;
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
    QCOMPARE(parts.proofs.load(), 0);
}

void TestHealthMonitor::aPassedHandshakeMakesADriverReady()
{
    FakeParts parts;
    const test::FakeClock clock;
    HealthMonitor monitor(parts, clock);
    QCOMPARE(monitor.handshake(nullptr).value().drivers.front().state, "ready");
    const auto health = monitor.report();
    QCOMPARE(health.drivers.front().state, "ready");
    QVERIFY(health.drivers.front().lastHandshake->passed);
    QCOMPARE(parts.proofs.load(), 1);
}

void TestHealthMonitor::aFailedHandshakeTellsWhy()
{
    FakeParts parts;
    const test::FakeClock clock;
    HealthMonitor monitor(parts, clock);
    ASSAY_OK(monitor.handshake(nullptr));
    parts.works = false;
    const auto driver = monitor.handshake(nullptr).value().drivers.front();
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
    const auto driver = monitor.handshake(nullptr).value().drivers.front();
    QCOMPARE(driver.state, "disabled");
    QCOMPARE(driver.reason, "switched off");
    QCOMPARE(parts.proofs.load(), 0);
}

void TestHealthMonitor::readyFollowsStoreAndHandshake()
{
    FakeParts parts;
    test::FakeClock clock;
    HealthMonitor monitor(parts, clock);
    ASSAY_OK(monitor.ready());
    parts.works = false;
    clock.advance(HealthMonitor::kRemembered + std::chrono::milliseconds(1));
    const auto broken = monitor.ready();
    ASSAY_FAILS(broken, ErrorCode::Unavailable);
    QVERIFY(broken.error().message.contains("it said nothing") && broken.error().message.contains("repair"));
    // Switched off is a decision, not a fault; and nothing but a handshake makes ready.
    parts.driverState = "disabled";
    clock.advance(HealthMonitor::kRemembered + std::chrono::milliseconds(1));
    ASSAY_OK(monitor.ready());
    parts.storeState = "unavailable";
    ASSAY_FAILS(monitor.ready(), ErrorCode::Unavailable);
}

void TestHealthMonitor::readyBelievesAHandshakeForSomeSeconds()
{
    FakeParts parts;
    test::FakeClock clock;
    HealthMonitor monitor(parts, clock);
    for (int i = 0; i < 5; ++i)
        ASSAY_OK(monitor.ready());
    QCOMPARE(parts.proofs.load(), 1);
    clock.advance(HealthMonitor::kRemembered + std::chrono::milliseconds(1));
    ASSAY_OK(monitor.ready());
    QCOMPARE(parts.proofs.load(), 2);
    ASSAY_OK(monitor.handshake(nullptr)); // on demand means now
    QCOMPARE(parts.proofs.load(), 3);
}

void TestHealthMonitor::whoComesMeanwhileSharesTheHandshake()
{
    FakeParts parts;
    parts.takes = std::chrono::milliseconds(200);
    const SystemClock clock;
    HealthMonitor monitor(parts, clock);
    std::atomic<int> passed{0};
    {
        std::vector<std::jthread> callers;
        for (int i = 0; i < 8; ++i)
            callers.emplace_back([&] { passed += monitor.handshake(nullptr).has_value(); });
    }
    QCOMPARE(passed.load(), 8);
    QVERIFY2(parts.proofs.load() < 3, qPrintable(QString::number(parts.proofs.load())));
}

void TestHealthMonitor::handshakesAreRecorded()
{
    FakeParts parts;
    test::FakeClock clock;
    HealthMonitor monitor(parts, clock);
    const auth::Identity ann{.scopeFingerprint = "sc_a", .principal = "ann", .tokenId = {}, .roles = {}};
    const auto probe = [&] {
        clock.advance(HealthMonitor::kRemembered + std::chrono::milliseconds(1));
        (void)monitor.ready();
    };
    probe();
    probe();
    ASSAY_OK(monitor.handshake(&ann));
    ASSAY_OK(monitor.handshake(&ann));
    parts.works = false;
    probe();
    probe();
    const std::vector<std::string> expected{"server ready", "ann ready", "ann ready", "server unavailable"};
    QCOMPARE(parts.recorded, expected);
}

void TestHealthMonitor::readyNeverWaitsForAHandshake()
{
    FakeParts parts;
    test::FakeClock clock;
    HealthMonitor monitor(parts, clock);
    ASSAY_OK(monitor.ready());
    clock.advance(HealthMonitor::kRemembered + std::chrono::milliseconds(1));
    parts.takes = std::chrono::milliseconds(1500);
    const std::jthread slow([&] { (void)monitor.handshake(nullptr); });
    while (parts.proofs.load() < 2)
        std::this_thread::yield();
    const auto start = std::chrono::steady_clock::now();
    ASSAY_OK(monitor.ready()); // by what is known
    QVERIFY(std::chrono::steady_clock::now() - start < std::chrono::milliseconds(1000));
    QCOMPARE(parts.proofs.load(), 2);
}

void TestHealthMonitor::aPersonsHandshakeThatCannotBeRecordedFails()
{
    FakeParts parts;
    const test::FakeClock clock;
    HealthMonitor monitor(parts, clock);
    const auth::Identity ann{.scopeFingerprint = "sc_a", .principal = "ann", .tokenId = {}, .roles = {}};
    parts.canRecord = false;
    ASSAY_FAILS(monitor.handshake(&ann), ErrorCode::Unavailable);
    ASSAY_OK(monitor.handshake(nullptr));
}

void TestHealthMonitor::whoSharesAHandshakeIsRecordedToo()
{
    FakeParts parts;
    parts.takes = std::chrono::milliseconds(500);
    const SystemClock clock;
    HealthMonitor monitor(parts, clock);
    const auth::Identity ann{.scopeFingerprint = "sc_a", .principal = "ann", .tokenId = {}, .roles = {}};
    const auth::Identity bob{.scopeFingerprint = "sc_a", .principal = "bob", .tokenId = {}, .roles = {}};
    {
        const std::jthread first([&] { (void)monitor.handshake(&ann); });
        while (parts.proofs.load() == 0)
            std::this_thread::yield();
        ASSAY_OK(monitor.handshake(&bob));
    }
    const std::vector<std::string> expected{"ann ready", "bob ready"};
    QCOMPARE(parts.recorded, expected);
}

QTEST_APPLESS_MAIN(TestHealthMonitor)
#include "tst_health_monitor.moc"
