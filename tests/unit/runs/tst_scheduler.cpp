// SPDX-License-Identifier: Apache-2.0
#include "server/runs/scheduler.h"
#include "tests/support/test_support.h"

#include <latch>
#include <semaphore>

using namespace assay;
using namespace assay::runs;

class TestScheduler : public QObject
{
    Q_OBJECT

private slots:
    void takesScopesInTurn();
    void skipsAScopeThatMayNotStart();
    void removesOnlyWaitingJobs();
    void runsEverythingWithinTheLimits();
    void refusesWhenTheQueueIsFull();
    void aScopeAtItsLimitDoesNotBlockOthers();
    void withdrawsAWaitingJobOnly();
    void takesNothingAfterClose();
};

namespace {

std::string drain(FairQueue& queue)
{
    std::string order;
    while (auto job = queue.take([](const std::string&) { return true; }))
        order += job->scope + std::to_string(job->ticket) + " ";
    return order;
}

FairQueue filled()
{
    FairQueue queue;
    for (std::uint64_t i = 1; i <= 3; ++i)
        queue.push({i, "a", {}});
    queue.push({4, "b", {}});
    queue.push({5, "b", {}});
    queue.push({6, "c", {}});
    return queue;
}

} // namespace

void TestScheduler::takesScopesInTurn()
{
    auto queue = filled();
    QCOMPARE(queue.size(), 6U);
    QCOMPARE(drain(queue), "a1 b4 c6 a2 b5 a3 ");
    QCOMPARE(queue.size(), 0U);
}

void TestScheduler::skipsAScopeThatMayNotStart()
{
    auto queue = filled();
    const auto notA = [](const std::string& scope) { return scope != "a"; };
    QCOMPARE(queue.take(notA)->scope, "b");
    QCOMPARE(queue.take(notA)->scope, "c");
    QCOMPARE(queue.take(notA)->scope, "b");
    QVERIFY(!queue.take(notA));
    QCOMPARE(drain(queue), "a1 a2 a3 ");
}

void TestScheduler::removesOnlyWaitingJobs()
{
    auto queue = filled();
    QVERIFY(queue.remove("c", 6));
    QVERIFY(!queue.remove("c", 6));
    QVERIFY(!queue.remove("b", 1));
    QVERIFY(queue.remove("a", 2));
    QCOMPARE(drain(queue), "a1 b4 a3 b5 ");
}

void TestScheduler::runsEverythingWithinTheLimits()
{
    std::atomic<int> live{0};
    std::atomic<int> most{0};
    std::atomic<int> done{0};
    {
        Scheduler scheduler({.maxLive = 4, .maxLivePerScope = 3, .maxQueued = 1000});
        for (int i = 0; i < 400; ++i)
            ASSAY_OK(scheduler.submit(i % 2 == 0 ? "a" : "b", [&] {
                const int now = ++live;
                for (int seen = most; now > seen && !most.compare_exchange_weak(seen, now);)
                    ;
                std::this_thread::sleep_for(std::chrono::microseconds(200));
                --live;
                ++done;
            }));
    } // the destructor lets waiting jobs end
    QCOMPARE(done.load(), 400);
    QVERIFY(most <= 4);
    QVERIFY(most >= 2);
}

void TestScheduler::refusesWhenTheQueueIsFull()
{
    std::binary_semaphore gate(0);
    std::binary_semaphore started(0);
    Scheduler scheduler({.maxLive = 1, .maxLivePerScope = 1, .maxQueued = 2});
    ASSAY_OK(scheduler.submit("a", [&] {
        started.release();
        gate.acquire();
    }));
    started.acquire();
    ASSAY_OK(scheduler.submit("a", [] {}));
    ASSAY_OK(scheduler.submit("b", [] {}));
    QVERIFY(scheduler.isFull());
    const auto refused = scheduler.submit("c", [] {});
    ASSAY_FAILS(refused, ErrorCode::Refused);
    QCOMPARE(refused.error().reason, "queue_full");
    QVERIFY(refused.error().message.contains("2"));
    QCOMPARE(scheduler.load().live, 1U);
    QCOMPARE(scheduler.load().queued, 2U);
    gate.release();
}

void TestScheduler::aScopeAtItsLimitDoesNotBlockOthers()
{
    std::binary_semaphore gate(0);
    std::binary_semaphore started(0);
    std::binary_semaphore other(0);
    std::atomic<bool> second{false};
    Scheduler scheduler({.maxLive = 4, .maxLivePerScope = 1, .maxQueued = 10});
    ASSAY_OK(scheduler.submit("a", [&] {
        started.release();
        gate.acquire();
    }));
    started.acquire();
    ASSAY_OK(scheduler.submit("a", [&] { second = true; }));
    ASSAY_OK(scheduler.submit("b", [&] { other.release(); }));
    QVERIFY(other.try_acquire_for(std::chrono::seconds(10)));
    QVERIFY(!second);
    gate.release();
    for (int i = 0; i < 1000 && !second; ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    QVERIFY(second);
}

void TestScheduler::withdrawsAWaitingJobOnly()
{
    std::binary_semaphore gate(0);
    std::binary_semaphore started(0);
    std::atomic<bool> ran{false};
    {
        Scheduler scheduler({.maxLive = 1, .maxLivePerScope = 1, .maxQueued = 10});
        const auto first = scheduler.submit("a", [&] {
            started.release();
            gate.acquire();
        });
        ASSAY_OK(first);
        started.acquire();
        const auto waiting = scheduler.submit("a", [&] { ran = true; });
        ASSAY_OK(waiting);
        QVERIFY(!scheduler.withdraw("a", *first));
        QVERIFY(!scheduler.withdraw("b", *waiting));
        QVERIFY(scheduler.withdraw("a", *waiting));
        gate.release();
    }
    QVERIFY(!ran);
}

void TestScheduler::takesNothingAfterClose()
{
    Scheduler scheduler({});
    scheduler.close();
    ASSAY_FAILS(scheduler.submit("a", [] {}), ErrorCode::Unavailable);
}

QTEST_APPLESS_MAIN(TestScheduler)
#include "tst_scheduler.moc"
