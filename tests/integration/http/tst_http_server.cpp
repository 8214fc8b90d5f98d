// SPDX-License-Identifier: Apache-2.0
#include "tests/support/http_fixture.h"
#include "tests/support/test_support.h"

#include <QTemporaryDir>

#include <set>
#include <thread>

using namespace assay;
using namespace assay::test;
using namespace std::chrono_literals;

namespace {

const std::string kGet = "GET /a HTTP/1.1\r\nHost: x\r\n\r\n";

std::string put(const std::string& path, const std::string& body, const std::string& more = {})
{
    return "PUT " + path + " HTTP/1.1\r\nHost: x\r\n" + more + "Content-Length: " + std::to_string(body.size()) +
           "\r\n\r\n" + body;
}

} // namespace

class TestHttpServer : public QObject
{
    Q_OBJECT

private slots:
    void answersARequest();
    void tellsAnIdOfItsOwnMaking();
    void answersPipelinedRequestsInOrder();
    void answersARequestThatArrivesByteByByte();
    void takesBodiesByLengthAndByChunks();
    void spoolsBodiesIntoAFile();
    void refusesALongBodyBeforeItIsSent();
    void countsAChunkedBodyAgainstItsLimit();
    void goesOnAfterARefusedShortBody();
    void answersExpectationsAfterAdmission();
    void answersHeadWithoutABody();
    void servesHttp10();
    void answersMethodsWithAllow();
    void writesLargeReplies();
    void survivesAServiceThatThrows();
    void servesUnixSocketsAndTrustsThemWhenTold();
    void replacesAStaleSocketAndRefusesALiveOne();
    void reportsTheRouteAndNeverThePath();
    void finishesRequestsInProgressWhenItStops();
    void endsIdleConnectionsAtOnceWhenItStops();
    void bindsAllAddressesOrNone();
};

void TestHttpServer::answersARequest()
{
    HttpFixture fixture;
    ASSAY_OK(fixture.start());
    RawClient client(fixture.port());
    client.send("GET /v1/a%2Fb?q=1 HTTP/1.1\r\nHost: x\r\n\r\n");
    const std::string reply = client.readReply();
    QCOMPARE(statusOf(reply), 200);
    QVERIFY2(reply.contains(R"("segments":["v1","a/b"],"query":{"q":"1"})"), reply.c_str());
    QVERIFY(reply.contains("Date: ") && !reply.contains("Connection: close"));
    client.send("GET /b HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    QVERIFY(client.readAll().contains("Connection: close"));
}

void TestHttpServer::tellsAnIdOfItsOwnMaking()
{
    HttpFixture fixture;
    ASSAY_OK(fixture.start());
    RawClient client(fixture.port());
    std::set<std::string> seen;
    for (const char* request : {"GET /a HTTP/1.1\r\nHost: x\r\nAssay-Request-Id: req_mine\r\n\r\n",
                                "GET /a HTTP/1.1\r\nHost: x\r\n\r\n", "GET /bad path HTTP/1.1\r\nHost: x\r\n\r\n"}) {
        client.send(request);
        const std::string reply = client.readReply();
        const auto at = reply.find("Assay-Request-Id: req_");
        QVERIFY2(at != std::string::npos && !reply.contains("req_mine"), reply.c_str());
        seen.insert(reply.substr(at, 48));
    }
    QCOMPARE(seen.size(), 3U);
}

void TestHttpServer::answersPipelinedRequestsInOrder()
{
    HttpFixture fixture;
    ASSAY_OK(fixture.start());
    RawClient client(fixture.port());
    std::string all;
    for (int i = 0; i < 50; ++i)
        all += i % 2 ? put("/p" + std::to_string(i), "body")
                     : "GET /p" + std::to_string(i) + " HTTP/1.1\r\nHost: x\r\n\r\n";
    client.send(all);
    for (int i = 0; i < 50; ++i) {
        const std::string reply = client.readReply();
        QVERIFY2(reply.contains("\"p" + std::to_string(i) + "\""), reply.c_str());
    }
}

void TestHttpServer::answersARequestThatArrivesByteByByte()
{
    HttpFixture fixture;
    ASSAY_OK(fixture.start());
    RawClient client(fixture.port());
    const std::string request =
        "POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nT: x\r\n\r\n" + kGet;
    for (const char c : request) {
        client.send({&c, 1});
        std::this_thread::sleep_for(100us);
    }
    QVERIFY(client.readReply().contains(R"("body":"abc")"));
    QCOMPARE(statusOf(client.readReply()), 200);
}

void TestHttpServer::takesBodiesByLengthAndByChunks()
{
    HttpFixture fixture;
    ASSAY_OK(fixture.start());
    RawClient client(fixture.port());
    const std::string large(300'000, 'z');
    client.send(put("/a", large));
    QVERIFY(client.readReply().contains(R"("size":300000)"));
    std::string chunked = "PUT /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
    for (int i = 0; i < 300; ++i)
        chunked += "3e8;name=\"value\"\r\n" + std::string(1000, 'z') + "\r\n";
    client.send(chunked + "0\r\n\r\n");
    const std::string reply = client.readReply();
    QVERIFY(reply.contains(R"("size":300000)"));
    QVERIFY(reply.contains(std::to_string(std::hash<std::string>{}(large))));
}

void TestHttpServer::spoolsBodiesIntoAFile()
{
    HttpFixture fixture;
    const QTemporaryDir dir;
    fixture.options.spoolDirectory = dir.path().toStdString();
    ASSAY_OK(fixture.start());
    RawClient client(fixture.port());
    std::string large(900'000, 'z');
    large[123'456] = 'a';
    client.send(put("/file", large));
    const std::string reply = client.readReply();
    QVERIFY2(reply.contains(std::to_string(std::hash<std::string>{}(large))), reply.c_str());
    client.send(put("/file", "short"));
    QVERIFY(client.readReply().contains(R"("body":"short")"));
    QVERIFY2(QDir(dir.path()).isEmpty(QDir::AllEntries | QDir::Hidden | QDir::NoDotAndDotDot),
             "a spool file has a name");
}

void TestHttpServer::refusesALongBodyBeforeItIsSent()
{
    HttpFixture fixture;
    fixture.service.bodyLimit = 1000;
    ASSAY_OK(fixture.start());
    RawClient client(fixture.port());
    client.send("PUT /a HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n");
    const std::string reply = client.readReply();
    QCOMPARE(statusOf(reply), 413);
    QVERIFY(reply.contains("too_large") && reply.contains("1000") && reply.contains("Connection: close"));
    QCOMPARE(fixture.service.handled.load(), 0);
}

void TestHttpServer::countsAChunkedBodyAgainstItsLimit()
{
    HttpFixture fixture;
    fixture.service.bodyLimit = 1000;
    ASSAY_OK(fixture.start());
    RawClient client(fixture.port());
    client.send("PUT /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3e9\r\n" + std::string(1001, 'x') +
                "\r\n0\r\n\r\n");
    QCOMPARE(statusOf(client.readReply()), 413);
    QCOMPARE(fixture.service.handled.load(), 0);
    QVERIFY(client.isClosedWithin(5s));
}

void TestHttpServer::goesOnAfterARefusedShortBody()
{
    HttpFixture fixture;
    ASSAY_OK(fixture.start());
    RawClient client(fixture.port());
    client.send(put("/forbidden", "body") + kGet);
    QCOMPARE(statusOf(client.readReply()), 403);
    QCOMPARE(statusOf(client.readReply()), 200);
    QCOMPARE(fixture.service.handled.load(), 1);
}

void TestHttpServer::answersExpectationsAfterAdmission()
{
    HttpFixture fixture;
    ASSAY_OK(fixture.start());
    RawClient refused(fixture.port());
    refused.send("PUT /forbidden HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n");
    const std::string reply = refused.readReply();
    QVERIFY2(reply.starts_with("HTTP/1.1 403") && reply.contains("Connection: close"), reply.c_str());
    RawClient admitted(fixture.port());
    admitted.send("PUT /a HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n");
    QCOMPARE(admitted.readUntil("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
    admitted.send("body");
    QVERIFY(admitted.readReply().contains(R"("body":"body")"));
}

void TestHttpServer::answersHeadWithoutABody()
{
    HttpFixture fixture;
    ASSAY_OK(fixture.start());
    RawClient client(fixture.port());
    client.send("HEAD /a HTTP/1.1\r\nHost: x\r\n\r\n" + kGet);
    const std::string head = client.readReply(true);
    QVERIFY(head.contains("Content-Length: ") && head.ends_with("\r\n\r\n"));
    QCOMPARE(statusOf(client.readReply()), 200);
}

void TestHttpServer::servesHttp10()
{
    HttpFixture fixture;
    ASSAY_OK(fixture.start());
    RawClient client(fixture.port());
    client.send("GET /a HTTP/1.0\r\n\r\n");
    QVERIFY(client.readAll().contains("Connection: close"));
    RawClient kept(fixture.port());
    kept.send("GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\nGET /b HTTP/1.0\r\n\r\n");
    QVERIFY(kept.readReply().contains("Connection: keep-alive"));
    QVERIFY(kept.readAll().contains("\"b\""));
}

void TestHttpServer::answersMethodsWithAllow()
{
    HttpFixture fixture;
    ASSAY_OK(fixture.start());
    for (const char* method : {"OPTIONS", "TRACE", "BREW"}) {
        RawClient client(fixture.port());
        client.send(std::string(method) + " /a HTTP/1.1\r\nHost: x\r\n\r\n");
        const std::string reply = client.readReply();
        QCOMPARE(statusOf(reply), 405);
        QVERIFY(reply.contains("Allow: GET, HEAD, POST, PUT, PATCH, DELETE\r\n"));
    }
    QCOMPARE(fixture.service.admitted.load(), 0);
}

void TestHttpServer::writesLargeReplies()
{
    HttpFixture fixture;
    ASSAY_OK(fixture.start());
    RawClient client(fixture.port());
    client.send("GET /big HTTP/1.1\r\nHost: x\r\n\r\n" + kGet);
    QVERIFY(client.readReply().ends_with(std::string(1U << 20, 'x')));
    QCOMPARE(statusOf(client.readReply()), 200);
}

void TestHttpServer::survivesAServiceThatThrows()
{
    HttpFixture fixture;
    ASSAY_OK(fixture.start());
    RawClient client(fixture.port());
    client.send("GET /throws HTTP/1.1\r\nHost: x\r\n\r\n" + kGet);
    const std::string reply = client.readReply();
    QVERIFY(statusOf(reply) == 500 && !reply.contains("planted"));
    QCOMPARE(statusOf(client.readReply()), 200);
    QCOMPARE(fixture.observer.faults.load(), 1);
}

void TestHttpServer::servesUnixSocketsAndTrustsThemWhenTold()
{
    const QTemporaryDir dir;
    const std::string path = dir.filePath("s").toStdString();
    {
        HttpFixture fixture;
        ASSAY_OK(fixture.start("unix:" + path + "?ingress=trusted&mode=0660"));
        QCOMPARE(fixture.server->listening().front(), "unix:" + path);
        QCOMPARE(std::filesystem::status(path).permissions(), std::filesystem::perms(0660));
        RawClient client(path);
        client.send(kGet);
        QVERIFY(client.readReply().contains(R"("trusted":true)"));
    }
    QVERIFY(!std::filesystem::exists(path));
}

void TestHttpServer::replacesAStaleSocketAndRefusesALiveOne()
{
    const QTemporaryDir dir;
    const std::string path = dir.filePath("s").toStdString();
    HttpFixture first;
    ASSAY_OK(first.start("unix:" + path));
    HttpFixture second;
    ASSAY_FAILS(second.start("unix:" + path), ErrorCode::Unavailable);
    std::filesystem::rename(path, path + ".kept");
    std::filesystem::create_hard_link(path + ".kept", path); // still live under both names
    first.stop();
    HttpFixture third; // what `first` left under the other name is dead
    ASSAY_OK(third.start("unix:" + path + ".kept"));
    RawClient client(path + ".kept");
    client.send(kGet);
    QCOMPARE(statusOf(client.readReply()), 200);
}

void TestHttpServer::reportsTheRouteAndNeverThePath()
{
    HttpFixture fixture;
    ASSAY_OK(fixture.start());
    RawClient client(fixture.port());
    client.send("GET /secret-name HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    client.readAll();
    fixture.stop();
    QCOMPARE(fixture.observer.lastRoute, "/{fake}");
    QCOMPARE(fixture.observer.requests.load(), 1);
    QCOMPARE(fixture.observer.connections.load(), 0);
}

void TestHttpServer::finishesRequestsInProgressWhenItStops()
{
    HttpFixture fixture;
    ASSAY_OK(fixture.start());
    RawClient client(fixture.port());
    client.send("GET /slow HTTP/1.1\r\nHost: x\r\n\r\n");
    QVERIFY(eventually([&] { return fixture.service.handled.load() == 1; }));
    std::thread stopper([&] { fixture.stop(5s); });
    std::this_thread::sleep_for(100ms);
    RawClient late(fixture.port());
    late.send(kGet);
    fixture.service.release();
    const std::string reply = client.readAll();
    stopper.join();
    QVERIFY2(statusOf(reply) == 200 && reply.contains("Connection: close"), reply.c_str());
    QCOMPARE(statusOf(late.isOpen() ? late.readAll() : std::string()), 0);
}

void TestHttpServer::endsIdleConnectionsAtOnceWhenItStops()
{
    HttpFixture fixture;
    ASSAY_OK(fixture.start());
    RawClient idle(fixture.port());
    idle.send(kGet);
    idle.readReply();
    RawClient silent(fixture.port());
    QElapsedTimer timer;
    timer.start();
    fixture.stop(10s);
    QVERIFY2(timer.elapsed() < 3000, QByteArray::number(timer.elapsed()).constData());
    QVERIFY(idle.isClosedWithin(1s) && silent.isClosedWithin(1s));
}

void TestHttpServer::bindsAllAddressesOrNone()
{
    HttpFixture first;
    ASSAY_OK(first.start());
    HttpFixture second;
    second.options.listeners.push_back({http::parseListenAddress("127.0.0.1:0").value(), &second.service});
    ASSAY_FAILS(second.start("127.0.0.1:" + std::to_string(first.port())), ErrorCode::Unavailable);
    QVERIFY(!second.server);
}

QTEST_GUILESS_MAIN(TestHttpServer)
#include "tst_http_server.moc"
