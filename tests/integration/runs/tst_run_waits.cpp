// SPDX-License-Identifier: Apache-2.0
#include "tests/integration/runs/run_world.h"
#include "tests/support/test_support.h"

#include <thread>

using namespace assay;
using test::RunWorld;

class TestRunWaits : public QObject
{
    Q_OBJECT

private slots:
    void noMoreThanTheirShareWaits();
};

void TestRunWaits::noMoreThanTheirShareWaits()
{
    RunWorld world([](runs::RunSettings& settings) { settings.maxWaiting = 2; });
    const auto start = [&](const contract::StartRun& request) {
        return world.runs().start(RunWorld::someone(), request);
    };
    contract::StartRun slow;
    slow.command = contract::RunCommand{};
    slow.command->argv = {"sleep", "3"};
    slow.waitMs = 30'000;
    std::vector<std::thread> waiting;
    for (int i = 0; i < 2; ++i)
        waiting.emplace_back([&] { (void)start(slow); });
    QTest::qWait(700);
    const auto begin = std::chrono::steady_clock::now();
    const auto third = start(slow);
    QVERIFY(std::chrono::steady_clock::now() - begin < std::chrono::seconds(2));
    ASSAY_OK(third);
    QVERIFY2(third->state != "succeeded" && third->state != "failed", third->state.c_str());
    for (auto& each : waiting)
        each.join();
    QVERIFY(world.becomesIdle());
    slow.command->argv = {"true"};
    const auto later = start(slow);
    ASSAY_OK(later);
    QCOMPARE(later->state, "succeeded");
}

QTEST_GUILESS_MAIN(TestRunWaits)
#include "tst_run_waits.moc"
