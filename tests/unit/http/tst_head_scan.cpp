// SPDX-License-Identifier: Apache-2.0
#include "server/http/head_scan.h"
#include "tests/support/test_support.h"

using namespace assay::http;

class TestHeadScan : public QObject
{
    Q_OBJECT

private slots:
    void findsTheEndOfAHead();
    void givesTheSameVerdictByteByByte_data();
    void givesTheSameVerdictByteByByte();
    void refusesBeforeTheHeadIsComplete();
    void limitsBytesAndFields();
};

void TestHeadScan::findsTheEndOfAHead()
{
    const std::string_view text = "\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\nbody";
    HeadScan scan(1000, 10);
    QCOMPARE(scan.advance(text), HeadScan::State::Complete);
    QCOMPARE(text.substr(scan.begin(), 3), "GET");
    QCOMPARE(text.substr(scan.end()), "body");
}

void TestHeadScan::givesTheSameVerdictByteByByte_data()
{
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<bool>("accepted");
    const auto row = [](const char* name, const QByteArray& text, bool accepted) {
        QTest::newRow(name) << text << accepted;
    };
    row("plain", "GET / HTTP/1.1\r\nHost: a\r\n\r\n", true);
    row("http/1.0", "GET / HTTP/1.0\r\n\r\n", true);
    row("latin value", "GET / HTTP/1.1\r\nX: \xe4\r\n\r\n", true);
    row("empty value", "GET / HTTP/1.1\r\nX:\r\n\r\n", true);
    row("bare line feed after the request line", "GET / HTTP/1.1\nHost: a\r\n\r\n", false);
    row("bare line feed in a field", "GET / HTTP/1.1\r\nHost: a\nX: b\r\n\r\n", false);
    row("bare line feed at the end", "GET / HTTP/1.1\r\nHost: a\r\n\n", false);
    row("bare carriage return", "GET / HTTP/1.1\r\nHost: a\rX: b\r\n\r\n", false);
    row("bare carriage return at the end", "GET / HTTP/1.1\r\nHost: a\r\n\rG", false);
    row("nul in a value", QByteArray("GET / HTTP/1.1\r\nX: a\0b\r\n\r\n", 26), false);
    row("nul in a name", QByteArray("GET / HTTP/1.1\r\nX\0: a\r\n\r\n", 25), false);
    row("nul in the target", QByteArray("GET /\0 HTTP/1.1\r\n\r\n", 19), false);
    row("blank before colon", "GET / HTTP/1.1\r\nHost : a\r\n\r\n", false);
    row("empty name", "GET / HTTP/1.1\r\n: a\r\n\r\n", false);
    row("folded", "GET / HTTP/1.1\r\nX: a\r\n b\r\n\r\n", false);
    row("first line begins with a blank", "GET / HTTP/1.1\r\n X: a\r\n\r\n", false);
    row("two blanks", "GET  / HTTP/1.1\r\n\r\n", false);
    row("trailing blank", "GET / HTTP/1.1 \r\n\r\n", false);
    row("tab in the request line", "GET\t/ HTTP/1.1\r\n\r\n", false);
    row("utf-8 target", "GET /\xce\xb4 HTTP/1.1\r\n\r\n", false);
    row("http/0.9", "GET /\r\n\r\n", false);
    row("http/1.2", "GET / HTTP/1.2\r\n\r\n", false);
    row("http/2 preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", false);
    row("lower case version", "GET / http/1.1\r\n\r\n", false);
    row("three empty lines", "\r\n\r\n\r\nGET / HTTP/1.1\r\n\r\n", false);
}

void TestHeadScan::givesTheSameVerdictByteByByte()
{
    QFETCH(const QByteArray, text);
    QFETCH(const bool, accepted);
    const auto expected = accepted ? HeadScan::State::Complete : HeadScan::State::Refused;
    HeadScan whole(1000, 10);
    QCOMPARE(whole.advance(text.toStdString()), expected);
    HeadScan pieces(1000, 10);
    auto state = HeadScan::State::NeedMore;
    for (qsizetype size = 1; size <= text.size() && state == HeadScan::State::NeedMore; ++size)
        state = pieces.advance(text.first(size).toStdString());
    QCOMPARE(state, expected);
    QVERIFY(accepted || !pieces.fault().empty());
}

void TestHeadScan::refusesBeforeTheHeadIsComplete()
{
    HeadScan scan(1000, 10);
    QCOMPARE(scan.advance("GET / HTTP/1.1\n"), HeadScan::State::Refused);
    HeadScan tls(1000, 10);
    QCOMPARE(tls.advance("\x16\x03\x01"), HeadScan::State::Refused);
}

void TestHeadScan::limitsBytesAndFields()
{
    HeadScan bytes(20, 10);
    QCOMPARE(bytes.advance("GET /aaaaaaaaaaaaaaaaaaaaaaaaa"), HeadScan::State::Refused);
    QVERIFY(bytes.isTooLarge());
    HeadScan fields(1000, 2);
    QCOMPARE(fields.advance("GET / HTTP/1.1\r\nA: 1\r\nB: 2\r\nC: 3\r\n\r\n"), HeadScan::State::Refused);
    QVERIFY(fields.isTooLarge());
}

QTEST_APPLESS_MAIN(TestHeadScan)
#include "tst_head_scan.moc"
