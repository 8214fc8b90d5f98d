// SPDX-License-Identifier: Apache-2.0
#include "server/http/event_stream.h"
#include "tests/support/http_fixture.h"
#include "tests/support/test_support.h"

#include <QProcess>
#include <QTemporaryDir>

using namespace assay;
using namespace assay::test;
using namespace std::chrono_literals;

class TestHttpStreams : public QObject
{
    Q_OBJECT

private slots:
    void writesEventsAndGoesOn();
    void resumesAfterTheLastEvent();
    void beatsWhileNothingHappens();
    void endsTheSourceWhenTheClientGoes();
    void endsStreamsWhenItStops();
    void limitsStreams();
    void streamsToHttp10UntilItCloses();
    void keepsDataOnItsLines();
    void servesTls();
    void refusesOldTls();
    void namesAKeyThatDoesNotFit();

private:
    static bool makeCertificate(const QTemporaryDir& dir);
};

namespace {

const std::string kStream = "GET /events HTTP/1.1\r\nHost: x\r\n\r\n";

} // namespace

void TestHttpStreams::writesEventsAndGoesOn()
{
    HttpFixture fixture;
    ASSAY_OK(fixture.start());
    RawClient client(fixture.port());
    client.send(kStream + "GET /next HTTP/1.1\r\nHost: x\r\n\r\n");
    const std::string reply = client.readUntil("0\r\n\r\n");
    QVERIFY2(reply.contains("Content-Type: text/event-stream") && reply.contains("Transfer-Encoding: chunked"),
             reply.c_str());
    QVERIFY2(reply.contains("id: 1\nevent: tick\ndata: {\"n\":1}\n\n"), reply.c_str());
    QVERIFY(reply.contains("id: 3\n") && !reply.contains("id: 4\n"));
    QVERIFY(client.readReply().contains("\"next\""));
    QCOMPARE(fixture.service.liveSources.load(), 0);
}

void TestHttpStreams::resumesAfterTheLastEvent()
{
    HttpFixture fixture;
    ASSAY_OK(fixture.start());
    RawClient client(fixture.port());
    client.send("GET /events HTTP/1.1\r\nHost: x\r\nLast-Event-ID: 2\r\n\r\n");
    const std::string reply = client.readUntil("0\r\n\r\n");
    QVERIFY(!reply.contains("id: 2\n") && reply.contains("id: 3\n"));
}

void TestHttpStreams::beatsWhileNothingHappens()
{
    HttpFixture fixture;
    fixture.service.eventsPerStream = -1;
    fixture.options.limits.heartbeat = 300ms;
    ASSAY_OK(fixture.start());
    RawClient client(fixture.port());
    client.send(kStream);
    QVERIFY(client.readUntil("id: 1\n").ends_with("id: 1\n"));
    QVERIFY(client.readUntil(": \n\n").ends_with(": \n\n"));
}

void TestHttpStreams::endsTheSourceWhenTheClientGoes()
{
    HttpFixture fixture;
    fixture.service.eventsPerStream = -1;
    ASSAY_OK(fixture.start());
    RawClient client(fixture.port());
    client.send(kStream);
    client.readUntil("id: 1\n");
    QCOMPARE(fixture.service.liveSources.load(), 1);
    client.close();
    QVERIFY(eventually([&] { return fixture.service.liveSources.load() == 0; }));
    QVERIFY(eventually([&] { return fixture.observer.connections.load() == 0; }));
}

void TestHttpStreams::endsStreamsWhenItStops()
{
    HttpFixture fixture;
    fixture.service.eventsPerStream = -1;
    ASSAY_OK(fixture.start());
    RawClient client(fixture.port());
    client.send(kStream);
    client.readUntil("id: 1\n");
    QElapsedTimer timer;
    timer.start();
    fixture.stop(8s);
    QVERIFY(timer.elapsed() < 4000);
    QVERIFY(client.readAll().ends_with("0\r\n\r\n"));
    QCOMPARE(fixture.service.liveSources.load(), 0);
}

void TestHttpStreams::limitsStreams()
{
    HttpFixture fixture;
    fixture.service.eventsPerStream = -1;
    fixture.options.limits.eventStreams = 1;
    ASSAY_OK(fixture.start());
    RawClient first(fixture.port());
    first.send(kStream);
    first.readUntil("id: 1\n");
    RawClient second(fixture.port());
    second.send(kStream);
    QCOMPARE(statusOf(second.readReply()), 503);
    QCOMPARE(fixture.service.liveSources.load(), 1);
}

void TestHttpStreams::streamsToHttp10UntilItCloses()
{
    HttpFixture fixture;
    ASSAY_OK(fixture.start());
    RawClient client(fixture.port());
    client.send("GET /events HTTP/1.0\r\nHost: x\r\n\r\n");
    const std::string reply = client.readAll();
    QVERIFY(!reply.contains("chunked") && reply.ends_with("data: {\"n\":3}\n\n"));
}

void TestHttpStreams::keepsDataOnItsLines()
{
    QCOMPARE(http::formatEvent({7, "a", "x\ny"}), "id: 7\nevent: a\ndata: x\ndata: y\n\n");
    QCOMPARE(http::formatEvent({7, "a", ""}), "id: 7\nevent: a\ndata: \n\n");
}

bool TestHttpStreams::makeCertificate(const QTemporaryDir& dir)
{
    return QProcess::execute("openssl", {"req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
                                         "-nodes", "-days", "2", "-subj", "/CN=localhost", "-keyout",
                                         dir.filePath("key"), "-out", dir.filePath("cert"), "-quiet"}) == 0;
}

void TestHttpStreams::servesTls()
{
    const QTemporaryDir dir;
    QVERIFY(makeCertificate(dir));
    HttpFixture fixture;
    fixture.options.tlsCertificate = dir.filePath("cert").toStdString();
    fixture.options.tlsKey = dir.filePath("key").toStdString();
    ASSAY_OK(fixture.start());
    QVERIFY(fixture.server->listening().front().starts_with("https://"));
    const QString url = QStringLiteral("https://localhost:%1/big").arg(fixture.port());
    for (const char* version : {"--tlsv1.3", "--tlsv1.2"}) {
        QProcess curl;
        curl.start("curl",
                   {"-sS", version, "--tls-max", QString(version).right(3), "--cacert", dir.filePath("cert"), url});
        QVERIFY(curl.waitForFinished(20'000));
        QVERIFY2(curl.exitCode() == 0, curl.readAllStandardError().constData());
        QCOMPARE(curl.readAllStandardOutput().size(), 8 << 20);
    }
    RawClient plain(fixture.port());
    plain.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    QCOMPARE(statusOf(plain.readAll()), 0);
    QVERIFY(eventually([&] { return fixture.observer.refusedFor("handshake") == 1; }));
}

void TestHttpStreams::refusesOldTls()
{
    const QTemporaryDir dir;
    QVERIFY(makeCertificate(dir));
    HttpFixture fixture;
    fixture.options.tlsCertificate = dir.filePath("cert").toStdString();
    fixture.options.tlsKey = dir.filePath("key").toStdString();
    ASSAY_OK(fixture.start());
    const QString target = QStringLiteral("localhost:%1").arg(fixture.port());
    QProcess client;
    client.start("openssl", {"s_client", "-connect", target, "-tls1_1", "-cipher", "ALL@SECLEVEL=0"});
    client.closeWriteChannel();
    QVERIFY(client.waitForFinished(20'000));
    QVERIFY(client.exitCode() != 0);
}

void TestHttpStreams::namesAKeyThatDoesNotFit()
{
    const QTemporaryDir dir;
    QVERIFY(makeCertificate(dir));
    HttpFixture fixture;
    fixture.options.tlsCertificate = dir.filePath("cert").toStdString();
    ASSAY_FAILS(fixture.start(), ErrorCode::InvalidArgument);
    HttpFixture other;
    other.options.tlsCertificate = dir.filePath("cert").toStdString();
    other.options.tlsKey = dir.filePath("cert").toStdString();
    const auto started = other.start();
    ASSAY_FAILS(started, ErrorCode::InvalidArgument);
    QVERIFY(started.error().message.contains("cert"));
}

QTEST_GUILESS_MAIN(TestHttpStreams)
#include "tst_http_streams.moc"
