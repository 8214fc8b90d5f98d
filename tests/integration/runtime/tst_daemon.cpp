// SPDX-License-Identifier: Apache-2.0
// The program assayd itself, as an operator starts and stops it.
#include "tests/support/http_fixture.h"
#include "tests/support/test_support.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QTemporaryDir>

#include <csignal>
#include <memory>

using namespace assay;
using namespace assay::test;

namespace {

/// assayd on a data directory, with nothing of this process' environment that is a setting.
class Daemon
{
public:
    explicit Daemon(const QString& data, const QStringList& more = {}, const QStringList& variables = {})
    {
        QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
        for (const QString& name : environment.keys())
            if (name.startsWith("ASSAY_"))
                environment.remove(name);
        for (const QString& variable : variables)
            environment.insert(variable.section('=', 0, 0), variable.section('=', 1));
        m_process.setProcessEnvironment(environment);
        m_process.start(ASSAY_BIN_DIR "/assayd",
                        QStringList{"--data", data} +
                            (more.contains("--listen") ? QStringList{} : QStringList{"--listen", "127.0.0.1:0"}) +
                            more);
    }
    ~Daemon()
    {
        if (m_process.state() != QProcess::NotRunning) {
            m_process.kill();
            m_process.waitForFinished(10'000);
        }
    }

    QStringList listening()
    {
        while (!m_process.canReadLine() && m_process.waitForReadyRead(20'000)) {
        }
        QStringList urls;
        for (const QJsonValue& url : QJsonDocument::fromJson(m_process.readLine())["listening"].toArray())
            urls << url.toString();
        return urls;
    }
    std::uint16_t port(qsizetype index = 0)
    {
        return static_cast<std::uint16_t>(listening().value(index).section(':', -1).toUInt());
    }
    void signal(int number) { ::kill(static_cast<pid_t>(m_process.processId()), number); }
    /// The exit status; -1 when it does not end.
    int end(int number = 0)
    {
        if (number != 0)
            signal(number);
        if (!m_process.waitForFinished(20'000) || m_process.exitStatus() != QProcess::NormalExit)
            return -1;
        return m_process.exitCode();
    }
    QByteArray log() { return m_process.readAllStandardError(); }

private:
    QProcess m_process;
};

std::string get(std::uint16_t port, const std::string& target, const std::string& fields = {})
{
    RawClient client(port);
    client.send("GET " + target + " HTTP/1.1\r\nHost: x\r\n" + fields + "Connection: close\r\n\r\n");
    return client.readAll();
}

} // namespace

class TestDaemon : public QObject
{
    Q_OBJECT

private slots:
    void servesAndStopsOnASignal_data();
    void servesAndStopsOnASignal();
    void endsAtOnceOnASecondSignal();
    void isAloneOnItsData();
    void refusesSettingsThatItDoesNotKnow();
    void failsWhenAnAddressIsTaken();
    void servesMetricsToOperatorsOnly();
    void logsNoSecret();
    void warnsAboutUnsafeListeners();
};

void TestDaemon::servesAndStopsOnASignal_data()
{
    QTest::addColumn<int>("signal");
    QTest::newRow("SIGTERM") << SIGTERM;
    QTest::newRow("SIGINT") << SIGINT;
}

void TestDaemon::servesAndStopsOnASignal()
{
    QFETCH(const int, signal);
    const QTemporaryDir dir;
    Daemon daemon(dir.filePath("data"));
    const auto port = daemon.port();
    QVERIFY2(port != 0, daemon.log().constData());
    QCOMPARE(statusOf(get(port, "/livez")), 200);
    int ready = 0; // until the first handshake has ended it is not
    for (int tries = 0; tries < 300 && ready != 200; ++tries) {
        ready = statusOf(get(port, "/readyz"));
        if (ready != 200)
            QTest::qWait(100);
    }
    QCOMPARE(ready, 200);
    QCOMPARE(statusOf(get(port, "/openapi.json")), 200);
    const std::string refused = get(port, "/v1/skills");
    QVERIFY2(statusOf(refused) == 401 && refused.contains("WWW-Authenticate: Bearer"), refused.c_str());
    QCOMPARE(daemon.end(signal), 0);
    QCOMPARE(std::filesystem::status(dir.filePath("data").toStdString()).permissions(), std::filesystem::perms(0700));
}

void TestDaemon::endsAtOnceOnASecondSignal()
{
    const QTemporaryDir dir;
    Daemon daemon(dir.filePath("data"));
    RawClient client(daemon.port());
    client.send("GET / HTTP/1.1\r\nHost"); // a request in progress holds the first stop
    QTest::qWait(200);
    QElapsedTimer timer;
    timer.start();
    daemon.signal(SIGTERM);
    QTest::qWait(300);
    QCOMPARE(daemon.end(SIGTERM), 1);
    QVERIFY(timer.elapsed() < 4000);
}

void TestDaemon::isAloneOnItsData()
{
    const QTemporaryDir dir;
    Daemon first(dir.filePath("data"));
    QVERIFY(first.port() != 0);
    Daemon second(dir.filePath("data"));
    QCOMPARE(second.end(), 1);
    QVERIFY(second.log().contains("error"));
    QCOMPARE(first.end(SIGTERM), 0);
    Daemon third(dir.filePath("data"));
    QVERIFY(third.port() != 0);
}

void TestDaemon::refusesSettingsThatItDoesNotKnow()
{
    const QTemporaryDir dir;
    for (const QStringList& arguments : {QStringList{"--set", "http.conections=3"},
                                         {"--set", "http.connections=nan"},
                                         {"--set", "x"},
                                         {"--colour"},
                                         {"--config", "/nowhere.toml"},
                                         {"--listen", "0.0.0.0:0?ingress=trusted"}}) {
        Daemon daemon(dir.filePath("data"), arguments);
        QCOMPARE(daemon.end(), 2);
        QVERIFY(!daemon.log().isEmpty());
    }
}

void TestDaemon::failsWhenAnAddressIsTaken()
{
    const QTemporaryDir dir;
    Daemon first(dir.filePath("one"));
    const auto port = first.port();
    Daemon second(dir.filePath("two"), {"--listen", QStringLiteral("127.0.0.1:%1").arg(port)});
    QCOMPARE(second.end(), 1);
    QVERIFY(second.log().contains("Address already in use"));
}

void TestDaemon::servesMetricsToOperatorsOnly()
{
    const QTemporaryDir dir;
    Daemon daemon(dir.filePath("data"), {}, {"ASSAY_METRICS_LISTEN=127.0.0.1:0"});
    const QStringList urls = daemon.listening();
    QCOMPARE(urls.size(), 2);
    const auto api = static_cast<std::uint16_t>(urls[0].section(':', -1).toUInt());
    const auto metrics = static_cast<std::uint16_t>(urls[1].section(':', -1).toUInt());
    get(api, "/v1/skills/secret-name", "Authorization: Bearer nothing\r\n");
    const std::string text = get(metrics, "/metrics");
    QVERIFY2(text.contains("assay_http_requests_total{") && !text.contains("secret-name"), text.c_str());
    QVERIFY(statusOf(get(api, "/metrics")) != 200);
    QCOMPARE(statusOf(get(metrics, "/v1/skills")), 404);
}

void TestDaemon::logsNoSecret()
{
    const QTemporaryDir dir;
    Daemon daemon(dir.filePath("data"), {"--set", "log.level=debug"});
    const auto port = daemon.port();
    get(port, "/v1/skills", "Authorization: Bearer planted-secret\r\n");
    get(port, "/v1/skills/planted-path", "Authorization: planted-scheme\r\n");
    QCOMPARE(daemon.end(SIGTERM), 0);
    const QByteArray log = daemon.log();
    QVERIFY(log.contains("stopped") && !log.contains("planted"));
}

void TestDaemon::warnsAboutUnsafeListeners()
{
    const QTemporaryDir dir;
    Daemon daemon(dir.filePath("data"),
                  {"--listen", "0.0.0.0:0", "--listen", "unix:" + dir.filePath("s") + "?ingress=trusted"});
    QCOMPARE(daemon.listening().size(), 2);
    QCOMPARE(daemon.end(SIGTERM), 0);
    const QByteArray log = daemon.log();
    QVERIFY2(log.contains("without TLS") && log.contains("every scope"), log.constData());
}

QTEST_GUILESS_MAIN(TestDaemon)
#include "tst_daemon.moc"
