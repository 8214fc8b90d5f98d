// SPDX-License-Identifier: Apache-2.0
// The shared vectors http/requests.json (raw requests with the strict verdict of another parser) over a real socket.
#include "tests/support/http_fixture.h"
#include "tests/support/test_support.h"

#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QRegularExpression>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <thread>

using namespace assay;
using namespace assay::test;
using namespace std::chrono_literals;

namespace {

/// Where our policy is stricter than the vectors' "accepted", or reads a "rejected" case otherwise, and why.
struct Exception
{
    const char* title;
    const char* reason;
};

constexpr Exception kStricter[] = {
    {"`Content-Length` reset when no body is received", "the bytes that follow are the body, and incomplete"},
    {"Content-Length reset when no body is received", "the bytes that follow are the body, and incomplete"},
    {"SOURCE request with ICE", "another protocol"},
    {"OPTIONS request with RTSP", "another protocol"},
    {"ANNOUNCE request with RTSP", "another protocol"},
    {"No HTTP version", "HTTP/0.9 has no framing"},
    {"POST with `chunked` as last transfer-encoding", "one \"chunked\" is the only coding that is read"},
    {"POST with `chunked` as last transfer-encoding (multiple headers)",
     "one \"chunked\" is the only coding that is read"},
    {"`host:port` and basic auth", "an authority with a user is not the Host"},
    {"Fragment in URI", "a fragment is never sent"},
};

/// Refused there because that parser hands the connection over; we ignore Upgrade (RFC 9110, 7.8) and go on.
constexpr const char* kUpgradeIgnored = "Pause on CONNECT/Upgrade";

struct Case
{
    QString title;
    QByteArray raw;
    QString reason;
    bool reject = false;
    bool complete = false;
};

struct Verdict
{
    std::vector<int> statuses;
    int handled = 0;
    bool operator==(const Verdict&) const = default;
};

std::vector<Case> readCases()
{
    QFile file(vectorsDirectory() + "/http/requests.json");
    if (!file.open(QIODevice::ReadOnly))
        return {};
    std::vector<Case> cases;
    for (const QJsonValue& value : QJsonDocument::fromJson(file.readAll()).array())
        if (value["type"].toString() == "request")
            cases.push_back({value["title"].toString(), value["raw"].toString().toUtf8(), value["reason"].toString(),
                             value["reject"].toBool(), value["complete"].toBool()});
    return cases;
}

/// Most vectors have no Host, which HTTP/1.1 wants and we insist on: give them one, so that their own point is tested.
QByteArray withHost(const QByteArray& raw)
{
    if (raw.toLower().contains("\nhost:") || !raw.contains(" HTTP/1.1\r\n"))
        return raw;
    static const QRegularExpression absolute("^\\w+ http://([^/? ]*)");
    const auto match = absolute.match(QString::fromUtf8(raw));
    QByteArray out = raw;
    return out.replace(" HTTP/1.1\r\n", " HTTP/1.1\r\nHost: " +
                                            (match.hasMatch() ? match.captured(1).toUtf8() : QByteArray("x")) + "\r\n");
}

std::vector<int> statusesOf(std::string replies)
{
    std::vector<int> out;
    while (replies.starts_with("HTTP/1.1 ")) {
        out.push_back(statusOf(replies));
        const auto head = replies.find("\r\n\r\n");
        const auto field = replies.find("Content-Length: ");
        const bool isHead = replies.contains("\"method\":1");
        const std::size_t body = field < head && !isHead ? std::stoull(replies.substr(field + 16)) : 0;
        replies.erase(0, head + 4 + body);
    }
    return out;
}

enum class Pace { Whole, ByteByByte };

Verdict ask(HttpFixture& fixture, const QByteArray& raw, Pace pace)
{
    const int before = fixture.service.handled;
    RawClient client(fixture.port());
    const int on = 1;
    ::setsockopt(client.socket(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (pace == Pace::Whole)
        client.send(raw.toStdString());
    for (qsizetype i = 0; i < raw.size() && pace == Pace::ByteByByte; ++i) {
        client.send({raw.constData() + i, 1});
        std::this_thread::sleep_for(20us);
    }
    client.shutdownSending();
    Verdict verdict;
    verdict.statuses = statusesOf(client.readAll());
    verdict.handled = fixture.service.handled - before;
    return verdict;
}

QByteArray tell(const Case& example, const Verdict& verdict)
{
    QByteArray out = example.title.toUtf8() + " (" + example.reason.toUtf8() + "): ";
    for (const int status : verdict.statuses)
        out += QByteArray::number(status) + " ";
    return out + "handled " + QByteArray::number(verdict.handled);
}

bool isStricter(const Case& example)
{
    return std::ranges::any_of(kStricter, [&](const Exception& known) { return example.title == known.title; });
}

/// 400 and its kin, 405, or no answer at all.
bool isRefusal(const Verdict& verdict)
{
    return verdict.handled == 0 && std::ranges::all_of(verdict.statuses, [](int status) { return status >= 400; });
}

} // namespace

class TestHttpVectors : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase();
    void refusesWhatMustBeRefused();
    void acceptsWhatIsFine();
    void insistsOnAHost();
    void doesNotDependOnHowBytesArrive();

private:
    HttpFixture m_fixture;
    std::vector<Case> m_cases;
};

void TestHttpVectors::initTestCase()
{
    if (vectorsDirectory().isEmpty())
        QSKIP("this machine has no shared vectors");
    m_cases = readCases();
    QVERIFY(m_cases.size() > 100);
    m_fixture.options.limits.peerRequestsPerSecond = 0;
    ASSAY_OK(m_fixture.start());
}

void TestHttpVectors::refusesWhatMustBeRefused()
{
    int refused = 0;
    for (const Case& example : m_cases) {
        if (!example.reject)
            continue;
        const Verdict verdict = ask(m_fixture, withHost(example.raw), Pace::Whole);
        const bool isTunnel = example.reason == kUpgradeIgnored && !example.raw.startsWith("CONNECT");
        if (example.reason.startsWith("Data after") || isTunnel)
            QVERIFY2(verdict.handled == 1, tell(example, verdict).constData());
        else
            QVERIFY2(isRefusal(verdict), tell(example, verdict).constData());
        ++refused;
    }
    QVERIFY(refused > 50);
}

void TestHttpVectors::acceptsWhatIsFine()
{
    int accepted = 0;
    int stricter = 0;
    for (const Case& example : m_cases) {
        if (example.reject)
            continue;
        const Verdict verdict = ask(m_fixture, withHost(example.raw), Pace::Whole);
        if (isStricter(example)) {
            QVERIFY2(isRefusal(verdict), tell(example, verdict).constData());
            ++stricter;
            continue;
        }
        const bool isFine =
            std::ranges::all_of(verdict.statuses, [](int status) { return status == 200 || status == 405; });
        QVERIFY2(isFine && (verdict.statuses.empty() != example.complete), tell(example, verdict).constData());
        ++accepted;
    }
    QVERIFY(accepted > 50);
    QCOMPARE(stricter, 9);
}

void TestHttpVectors::insistsOnAHost()
{
    for (const Case& example : m_cases) {
        if (example.reject || !example.complete || withHost(example.raw) == example.raw)
            continue;
        const Verdict verdict = ask(m_fixture, example.raw, Pace::Whole);
        QVERIFY2(verdict.handled == 0 && verdict.statuses.size() <= 1, tell(example, verdict).constData());
    }
}

void TestHttpVectors::doesNotDependOnHowBytesArrive()
{
    for (const Case& example : m_cases) {
        const Verdict whole = ask(m_fixture, withHost(example.raw), Pace::Whole);
        const Verdict pieces = ask(m_fixture, withHost(example.raw), Pace::ByteByByte);
        QVERIFY2(whole == pieces, (tell(example, whole) + " against " + tell(example, pieces)).constData());
    }
}

QTEST_GUILESS_MAIN(TestHttpVectors)
#include "tst_http_vectors.moc"
