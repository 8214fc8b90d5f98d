// SPDX-License-Identifier: Apache-2.0
#include "server/http/connection_counts.h"
#include "server/http/known_tokens.h"
#include "server/http/rate_limiter.h"
#include "tests/support/test_support.h"

#include <cmath>

using namespace assay::http;
using namespace std::chrono_literals;

class TestHttpLimits : public QObject
{
    Q_OBJECT

private slots:
    void refillsABucketOverTime();
    void keepsBucketsApart();
    void forgetsTheOldestKey();
    void ignoresRatesThatAreNoNumbers();
    void countsConnectionsPerPeerAndInAll();
    void remembersOnlySoManyTokens();
};

void TestHttpLimits::refillsABucketOverTime()
{
    RateLimiter limiter(10, 2);
    RateLimiter::TimePoint now{};
    QCOMPARE(limiter.take("a", now), 0ms);
    QCOMPARE(limiter.take("a", now), 0ms);
    QCOMPARE(limiter.take("a", now), 100ms);
    now += 100ms;
    QCOMPARE(limiter.take("a", now), 0ms);
    QVERIFY(limiter.take("a", now) > 0ms);
    now += 1h;
    QCOMPARE(limiter.take("a", now), 0ms);
    QCOMPARE(limiter.take("a", now), 0ms);
    QVERIFY2(limiter.take("a", now) > 0ms, "no more than the burst is saved up");
}

void TestHttpLimits::keepsBucketsApart()
{
    RateLimiter limiter(1, 1);
    QCOMPARE(limiter.take("a", {}), 0ms);
    QCOMPARE(limiter.take("b", {}), 0ms);
    QVERIFY(limiter.take("a", {}) > 0ms);
}

void TestHttpLimits::forgetsTheOldestKey()
{
    RateLimiter limiter(1, 1);
    QCOMPARE(limiter.take("first", {}), 0ms);
    for (std::size_t i = 0; i < RateLimiter::kMaxKeys; ++i)
        QCOMPARE(limiter.take(std::to_string(i), {}), 0ms);
    QCOMPARE(limiter.take("first", {}), 0ms);
    QVERIFY(limiter.take(std::to_string(RateLimiter::kMaxKeys - 1), {}) > 0ms);
}

void TestHttpLimits::ignoresRatesThatAreNoNumbers()
{
    QVERIFY(!RateLimiter(std::nan(""), 1).isEnabled());
    QVERIFY(!RateLimiter(-1, 1).isEnabled());
    QVERIFY(!RateLimiter(INFINITY, 1).isEnabled());
    RateLimiter limiter(1, std::nan(""));
    QCOMPARE(limiter.take("a", {}), 0ms);
    QVERIFY(limiter.take("a", {}) > 0ms);
}

void TestHttpLimits::countsConnectionsPerPeerAndInAll()
{
    using Verdict = ConnectionCounts::Verdict;
    ConnectionCounts counts(3, 2);
    QCOMPARE(counts.add("a"), Verdict::Accepted);
    QCOMPARE(counts.add("a"), Verdict::Accepted);
    QCOMPARE(counts.add("a"), Verdict::TooManyOfPeer);
    QCOMPARE(counts.add(""), Verdict::Accepted);
    QCOMPARE(counts.add("b"), Verdict::TooMany);
    counts.remove("a");
    QCOMPARE(counts.add("b"), Verdict::Accepted);
}

void TestHttpLimits::remembersOnlySoManyTokens()
{
    KnownTokens tokens;
    tokens.remember("a");
    QVERIFY(tokens.contains("a") && !tokens.contains("b"));
    tokens.forget("a");
    QVERIFY(!tokens.contains("a"));
    tokens.remember("a");
    for (std::size_t i = 0; i < KnownTokens::kMaxTokens; ++i)
        tokens.remember(std::to_string(i));
    QVERIFY(!tokens.contains("a"));
}

QTEST_APPLESS_MAIN(TestHttpLimits)
#include "tst_http_limits.moc"
