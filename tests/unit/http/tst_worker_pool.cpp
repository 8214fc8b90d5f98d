// SPDX-License-Identifier: Apache-2.0
#include "server/http/worker_pool.h"
#include "tests/support/test_support.h"

#include <barrier>
#include <latch>
#include <thread>

using namespace assay::http;
using namespace std::chrono_literals;

class TestWorkerPool : public QObject
{
    Q_OBJECT

private slots:
    void runsEveryJobOnce();
    void addsThreadsWhenJobsBlock();
    void keepsToFewThreadsWhenJobsAreShort();
    void givesThreadsBackWhenIdle();
    void refusesAboveItsQueue();
    void runsWhatIsQueuedBeforeItEnds();
};

void TestWorkerPool::runsEveryJobOnce()
{
    std::atomic<int> ran{0};
    {
        WorkerPool pool({});
        for (int i = 0; i < 2000; ++i)
            QVERIFY(pool.post([&] { ++ran; }));
    }
    QCOMPARE(ran.load(), 2000);
}

void TestWorkerPool::addsThreadsWhenJobsBlock()
{
    WorkerPool pool({.baseThreads = 2});
    // All of them must be inside at once: with too few threads this would wait for ever.
    std::latch together(32);
    std::latch done(32);
    for (int i = 0; i < 32; ++i)
        QVERIFY(pool.post([&] {
            together.arrive_and_wait();
            done.count_down();
        }));
    const auto deadline = std::chrono::steady_clock::now() + 10s;
    while (!done.try_wait() && std::chrono::steady_clock::now() < deadline)
        std::this_thread::sleep_for(1ms);
    QVERIFY(done.try_wait());
    QVERIFY(pool.threads() >= 32);
}

void TestWorkerPool::keepsToFewThreadsWhenJobsAreShort()
{
    WorkerPool pool({.baseThreads = 2, .maxQueued = 200'000});
    std::atomic<int> ran{0};
    for (int i = 0; i < 100'000; ++i)
        QVERIFY(pool.post([&] { ++ran; }));
    while (ran < 100'000)
        std::this_thread::sleep_for(1ms);
    QVERIFY2(pool.threads() <= 32, QByteArray::number(pool.threads()).constData());
}

void TestWorkerPool::givesThreadsBackWhenIdle()
{
    std::atomic<int> quiet{0};
    WorkerPool pool({.baseThreads = 1, .idle = 50ms, .whenIdle = [&] { ++quiet; }});
    std::latch together(8);
    for (int i = 0; i < 8; ++i)
        QVERIFY(pool.post([&] { together.arrive_and_wait(); }));
    const auto deadline = std::chrono::steady_clock::now() + 10s;
    while ((pool.threads() > 1 || quiet == 0) && std::chrono::steady_clock::now() < deadline)
        std::this_thread::sleep_for(5ms);
    QCOMPARE(pool.threads(), 1U);
    QCOMPARE(quiet.load(), 1);
    std::atomic<bool> ran{false};
    QVERIFY(pool.post([&] { ran = true; }));
    while (!ran && std::chrono::steady_clock::now() < deadline)
        std::this_thread::sleep_for(1ms);
    QVERIFY(ran);
}

void TestWorkerPool::refusesAboveItsQueue()
{
    WorkerPool pool({.baseThreads = 1, .maxThreads = 1, .maxQueued = 2});
    std::latch started(1);
    std::latch release(1);
    QVERIFY(pool.post([&] {
        started.count_down();
        release.wait();
    }));
    started.wait();
    QVERIFY(pool.post([] {}));
    QVERIFY(pool.post([] {}));
    QVERIFY(!pool.post([] {}));
    release.count_down();
}

void TestWorkerPool::runsWhatIsQueuedBeforeItEnds()
{
    std::atomic<int> ran{0};
    {
        WorkerPool pool({.baseThreads = 1, .maxThreads = 1});
        for (int i = 0; i < 20; ++i)
            QVERIFY(pool.post([&] {
                std::this_thread::sleep_for(1ms);
                ++ran;
            }));
    }
    QCOMPARE(ran.load(), 20);
}

QTEST_APPLESS_MAIN(TestWorkerPool)
#include "tst_worker_pool.moc"
