// SPDX-License-Identifier: Apache-2.0
#include "tests/support/http_fixture.h"
#include "tests/support/test_support.h"

#include <thread>

using namespace assay;
using namespace assay::test;
using namespace std::chrono_literals;

namespace {

const std::string kGet = "GET /a HTTP/1.1\r\nHost: x\r\n\r\n";

} // namespace

class TestHttpDeadlines : public QObject
{
    Q_OBJECT

private slots:
    void cutsASlowHead();
    void cutsASilentConnection();
    void cutsAnIdleConnection();
    void cutsASlowBody();
    void letsABodyTakeTheTimeItsSizeEarns();
    void cutsASlowReader();
    void twentySlowClientsHurtNobody();
    void limitsConnectionsOfOnePeer();
    void limitsAllConnections();
    void limitsAnonymousRequests();
    void givesAnAdmittedTokenItsOwnRate();
    void chargesWrongTokensToTheirPeer();
    void limitsHeads();
    void limitsTheMemoryOfBodies();
    void limitsRequestsOfOneConnection();
};

void TestHttpDeadlines::cutsASlowHead()
{
    HttpFixture fixture;
    fixture.options.limits.head = 300ms;
    ASSAY_OK(fixture.start());
    RawClient client(fixture.port());
    QElapsedTimer timer;
    timer.start();
    client.send("GET / HTTP/1.1\r\n");
    std::atomic<bool> stop{false};
    std::thread dripper([&] {
        while (!stop && client.send("X: a\r\n"))
            std::this_thread::sleep_for(50ms);
    });
    const bool closed = client.isClosedWithin(5s);
    stop = true;
    dripper.join();
    QVERIFY(closed && timer.elapsed() >= 250 && timer.elapsed() < 3000);
    QCOMPARE(fixture.observer.refusedFor("head_timeout"), 1);
}

void TestHttpDeadlines::cutsASilentConnection()
{
    HttpFixture fixture;
    fixture.options.limits.head = 200ms;
    ASSAY_OK(fixture.start());
    RawClient client(fixture.port());
    QVERIFY(client.isClosedWithin(5s));
}

void TestHttpDeadlines::cutsAnIdleConnection()
{
    HttpFixture fixture;
    fixture.options.limits.idle = 200ms;
    ASSAY_OK(fixture.start());
    RawClient client(fixture.port());
    client.send(kGet);
    QCOMPARE(statusOf(client.readReply()), 200);
    QVERIFY(client.isClosedWithin(5s));
    QCOMPARE(fixture.observer.refusedFor("head_timeout"), 0);
}

void TestHttpDeadlines::cutsASlowBody()
{
    HttpFixture fixture;
    fixture.options.limits.bodyGrace = 300ms;
    ASSAY_OK(fixture.start());
    RawClient client(fixture.port());
    client.send("PUT /a HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nabc");
    QVERIFY(client.isClosedWithin(5s));
    QCOMPARE(fixture.observer.refusedFor("body_timeout"), 1);
    QCOMPARE(fixture.service.handled.load(), 0);
}

void TestHttpDeadlines::letsABodyTakeTheTimeItsSizeEarns()
{
    HttpFixture fixture;
    fixture.options.limits.bodyGrace = 300ms;
    fixture.options.limits.minBytesPerSecond = 1000;
    ASSAY_OK(fixture.start());
    RawClient client(fixture.port());
    client.send("PUT /a HTTP/1.1\r\nHost: x\r\nContent-Length: 10000\r\n\r\n");
    for (int i = 0; i < 10; ++i) { // a second in all: more than the grace, less than what the bytes earn
        client.send(std::string(1000, 'x'));
        std::this_thread::sleep_for(100ms);
    }
    QCOMPARE(statusOf(client.readReply()), 200);
}

void TestHttpDeadlines::cutsASlowReader()
{
    HttpFixture fixture;
    fixture.options.limits.writeGrace = 300ms;
    ASSAY_OK(fixture.start());
    RawClient client(fixture.port());
    client.send("GET /huge HTTP/1.1\r\nHost: x\r\n\r\n");
    QVERIFY(eventually([&] { return fixture.observer.refusedFor("write_timeout") == 1; }));
    QVERIFY(client.readAll().size() < (64U << 20));
}

void TestHttpDeadlines::twentySlowClientsHurtNobody()
{
    HttpFixture fixture;
    ASSAY_OK(fixture.start());
    std::vector<std::unique_ptr<RawClient>> slow;
    for (int i = 0; i < 20; ++i) {
        slow.push_back(std::make_unique<RawClient>(fixture.port()));
        slow.back()->send(i % 3 == 0   ? "GET / HT"
                          : i % 3 == 1 ? "PUT /a HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\nab"
                                       : "GET /huge HTTP/1.1\r\nHost: x\r\n\r\n");
    }
    QElapsedTimer timer;
    timer.start();
    RawClient quick(fixture.port());
    for (int i = 0; i < 100; ++i) {
        quick.send(kGet);
        QCOMPARE(statusOf(quick.readReply()), 200);
    }
    QVERIFY2(timer.elapsed() < 5000, QByteArray::number(timer.elapsed()).constData());
}

void TestHttpDeadlines::limitsConnectionsOfOnePeer()
{
    HttpFixture fixture;
    fixture.options.limits.connectionsPerPeer = 2;
    ASSAY_OK(fixture.start());
    RawClient first(fixture.port());
    RawClient second(fixture.port());
    first.send(kGet);
    QCOMPARE(statusOf(first.readReply()), 200);
    second.send(kGet);
    QCOMPARE(statusOf(second.readReply()), 200);
    RawClient third(fixture.port());
    const std::string reply = third.readReply();
    QVERIFY2(statusOf(reply) == 503 && reply.contains("Retry-After") && reply.ends_with("later\"}"), reply.c_str());
    QCOMPARE(fixture.observer.refusedFor("connections_per_peer"), 1);
    first.close();
    QVERIFY(eventually([&] {
        RawClient again(fixture.port());
        again.send(kGet);
        return statusOf(again.readReply()) == 200;
    }));
}

void TestHttpDeadlines::limitsAllConnections()
{
    HttpFixture fixture;
    fixture.options.limits.connections = 1;
    ASSAY_OK(fixture.start());
    RawClient first(fixture.port());
    first.send(kGet);
    QCOMPARE(statusOf(first.readReply()), 200);
    RawClient second(fixture.port());
    QCOMPARE(statusOf(second.readReply()), 503);
    QCOMPARE(fixture.observer.refusedFor("connections"), 1);
}

void TestHttpDeadlines::limitsAnonymousRequests()
{
    HttpFixture fixture;
    fixture.options.limits.peerRequestsPerSecond = 0.01;
    fixture.options.limits.peerBurst = 2;
    ASSAY_OK(fixture.start());
    RawClient client(fixture.port());
    client.send(kGet + kGet + kGet);
    QCOMPARE(statusOf(client.readReply()), 200);
    QCOMPARE(statusOf(client.readReply()), 200);
    const std::string reply = client.readReply();
    QVERIFY2(statusOf(reply) == 429 && reply.contains("Retry-After: 100") && reply.contains("rate_limited"),
             reply.c_str());
}

void TestHttpDeadlines::givesAnAdmittedTokenItsOwnRate()
{
    HttpFixture fixture;
    fixture.options.limits.peerRequestsPerSecond = 0.01;
    fixture.options.limits.peerBurst = 2;
    fixture.options.limits.tokenRequestsPerSecond = 0.01;
    fixture.options.limits.tokenBurst = 3;
    ASSAY_OK(fixture.start());
    const auto ask = [&](const std::string& token) {
        RawClient client(fixture.port());
        client.send("GET /a HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + token + "\r\n\r\n");
        return statusOf(client.readReply());
    };
    QCOMPARE(ask("one"), 200); // from the peer's bucket: the token is not known yet
    for (int i = 0; i < 3; ++i)
        QCOMPARE(ask("one"), 200);
    QCOMPARE(ask("one"), 429);
    QCOMPARE(ask("two"), 200);
    QCOMPARE(ask("two"), 200);
    QCOMPARE(ask("three"), 429);
}

void TestHttpDeadlines::chargesWrongTokensToTheirPeer()
{
    HttpFixture fixture;
    fixture.options.limits.peerRequestsPerSecond = 0.01;
    fixture.options.limits.peerBurst = 3;
    ASSAY_OK(fixture.start());
    RawClient client(fixture.port());
    const std::string wrong = "GET /a HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer wrong\r\n\r\n";
    client.send(wrong + wrong + wrong + wrong);
    for (int i = 0; i < 3; ++i)
        QCOMPARE(statusOf(client.readReply()), 401);
    QCOMPARE(statusOf(client.readReply()), 429);
}

void TestHttpDeadlines::limitsHeads()
{
    HttpFixture fixture;
    fixture.options.limits.headBytes = 1000;
    fixture.options.limits.headFields = 5;
    ASSAY_OK(fixture.start());
    RawClient bytes(fixture.port());
    bytes.send("GET / HTTP/1.1\r\nHost: x\r\nX: " + std::string(1000, 'a') + "\r\n\r\n");
    QCOMPARE(statusOf(bytes.readReply()), 413);
    RawClient fields(fixture.port());
    fields.send("GET / HTTP/1.1\r\nHost: x\r\nA: 1\r\nB: 1\r\nC: 1\r\nD: 1\r\nE: 1\r\n\r\n");
    QCOMPARE(statusOf(fields.readReply()), 413);
    QCOMPARE(fixture.service.admitted.load(), 0);
}

void TestHttpDeadlines::limitsTheMemoryOfBodies()
{
    HttpFixture fixture;
    fixture.options.limits.bodyMemoryBytes = 100'000;
    ASSAY_OK(fixture.start());
    RawClient holder(fixture.port());
    holder.send("PUT /a HTTP/1.1\r\nHost: x\r\nContent-Length: 90001\r\n\r\n" + std::string(90'000, 'x'));
    std::this_thread::sleep_for(300ms);
    RawClient second(fixture.port());
    second.send("PUT /a HTTP/1.1\r\nHost: x\r\nContent-Length: 50000\r\n\r\n" + std::string(50'000, 'x'));
    QCOMPARE(statusOf(second.readReply()), 503);
    holder.send("x");
    QCOMPARE(statusOf(holder.readReply()), 200);
    RawClient third(fixture.port());
    third.send("PUT /a HTTP/1.1\r\nHost: x\r\nContent-Length: 50000\r\n\r\n" + std::string(50'000, 'x'));
    QCOMPARE(statusOf(third.readReply()), 200);
}

void TestHttpDeadlines::limitsRequestsOfOneConnection()
{
    HttpFixture fixture;
    fixture.options.limits.requestsPerConnection = 2;
    ASSAY_OK(fixture.start());
    RawClient client(fixture.port());
    client.send(kGet + kGet + kGet);
    QVERIFY(!client.readReply().contains("Connection: close"));
    QVERIFY(client.readReply().contains("Connection: close"));
    QCOMPARE(statusOf(client.readReply()), 0);
    QCOMPARE(fixture.service.handled.load(), 2);
}

QTEST_GUILESS_MAIN(TestHttpDeadlines)
#include "tst_http_deadlines.moc"
