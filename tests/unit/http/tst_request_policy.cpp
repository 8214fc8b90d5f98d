// SPDX-License-Identifier: Apache-2.0
#include "server/http/listen_address.h"
#include "server/http/reply_head.h"
#include "server/http/request_policy.h"
#include "server/http/request_target.h"
#include "tests/support/test_support.h"

using namespace assay;
using namespace assay::http;

namespace {

Result<JudgedRequest> judge(const std::string& fields, const std::string& line = "GET / HTTP/1.1")
{
    RequestParser parser;
    auto wire = parser.parseHead(line + "\r\n" + fields + "\r\n");
    if (!wire)
        return forward(wire);
    return judgeRequest(*wire, api::Trust::TokenRequired, 1000);
}

} // namespace

class TestRequestPolicy : public QObject
{
    Q_OBJECT

private slots:
    void refusesAmbiguousFraming_data();
    void refusesAmbiguousFraming();
    void readsFieldsAndBodies();
    void knowsWhenToKeepAlive();
    void refusesMethodsItDoesNotServe();
    void decodesTargetsOnce();
    void refusesTargets_data();
    void refusesTargets();
    void acceptsAbsoluteFormOnlyForItsHost();
    void readsListenAddresses();
    void refusesListenAddresses_data();
    void refusesListenAddresses();
    void dropsReplyFieldsThatWouldSplitTheReply();
};

void TestRequestPolicy::refusesAmbiguousFraming_data()
{
    QTest::addColumn<QByteArray>("fields");
    const auto row = [](const char* name, const char* fields) { QTest::newRow(name) << QByteArray(fields); };
    row("no host", "");
    row("two hosts", "Host: a\r\nHost: a\r\n");
    row("empty host", "Host:\r\n");
    row("host with a path", "Host: a/b\r\n");
    row("host with user", "Host: u@a\r\n");
    row("two lengths", "Host: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n");
    row("two equal lengths", "Host: a\r\nContent-Length: 1\r\nContent-Length: 1\r\n");
    row("list of lengths", "Host: a\r\nContent-Length: 1, 1\r\n");
    row("signed length", "Host: a\r\nContent-Length: +1\r\n");
    row("negative length", "Host: a\r\nContent-Length: -1\r\n");
    row("hex length", "Host: a\r\nContent-Length: 0x1\r\n");
    row("overflowing length", "Host: a\r\nContent-Length: 18446744073709551617\r\n");
    row("length and coding", "Host: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n");
    row("unknown coding", "Host: a\r\nTransfer-Encoding: gzip, chunked\r\n");
    row("coding twice", "Host: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n");
    row("chunked twice", "Host: a\r\nTransfer-Encoding: chunked, chunked\r\n");
    row("identity", "Host: a\r\nTransfer-Encoding: identity\r\n");
    row("two authorizations", "Host: a\r\nAuthorization: Bearer x\r\nAuthorization: Bearer y\r\n");
    row("two scopes", "Host: a\r\nAssay-Scope: x\r\nAssay-Scope: y\r\n");
    row("two if-match", "Host: a\r\nIf-Match: \"x\"\r\nIf-Match: \"y\"\r\n");
    row("other expectation", "Host: a\r\nExpect: coffee\r\n");
}

void TestRequestPolicy::refusesAmbiguousFraming()
{
    QFETCH(const QByteArray, fields);
    ASSAY_FAILS(judge(fields.toStdString()), ErrorCode::InvalidArgument);
}

void TestRequestPolicy::readsFieldsAndBodies()
{
    const auto plain =
        judge("Host: a\r\nX-Thing:  v \r\nAccept: a\r\nAccept: b\r\nContent-Length: 003\r\n", "PUT /x HTTP/1.1");
    ASSAY_OK(plain);
    QCOMPARE(plain->head.header("x-thing"), "v");
    QCOMPARE(plain->head.header("accept"), "a, b");
    QCOMPARE(plain->head.contentLength, std::optional<std::uint64_t>(3));
    QVERIFY(plain->head.hasBody && !plain->chunked);
    const auto chunked = judge("Host: a\r\nTransfer-Encoding: Chunked\r\nExpect: 100-continue\r\n", "POST /x HTTP/1.1");
    ASSAY_OK(chunked);
    QVERIFY(chunked->head.hasBody && chunked->chunked && chunked->expectContinue && !chunked->head.contentLength);
    ASSAY_FAILS(judge("Transfer-Encoding: chunked\r\n", "POST /x HTTP/1.0"), ErrorCode::InvalidArgument);
    ASSAY_OK(judge("", "GET / HTTP/1.0"));
}

void TestRequestPolicy::knowsWhenToKeepAlive()
{
    QVERIFY(judge("Host: a\r\n")->keepAlive);
    QVERIFY(!judge("Host: a\r\nConnection: foo, Close\r\n")->keepAlive);
    QVERIFY(!judge("Host: a\r\n", "GET / HTTP/1.0")->keepAlive);
    QVERIFY(judge("Host: a\r\nConnection: keep-alive\r\n", "GET / HTTP/1.0")->keepAlive);
}

void TestRequestPolicy::refusesMethodsItDoesNotServe()
{
    for (const char* line :
         {"OPTIONS / HTTP/1.1", "TRACE / HTTP/1.1", "BREW / HTTP/1.1", "get / HTTP/1.1", "CONNECT a:1 HTTP/1.1"})
        ASSAY_FAILS(judge("Host: a\r\n", line), ErrorCode::MethodNotAllowed);
    ASSAY_FAILS(judge("Host: a\r\n", "GET /" + std::string(1000, 'a') + " HTTP/1.1"), ErrorCode::TooLarge);
}

void TestRequestPolicy::decodesTargetsOnce()
{
    const auto target = parseTarget("/v1/a%2Fb/%25/caf%C3%A9?q=a+b%2B&r&=x&q=2", "h");
    ASSAY_OK(target);
    QCOMPARE(target->segments, (std::vector<std::string>{"v1", "a/b", "%", "caf\u00e9"}));
    const std::vector<std::pair<std::string, std::string>> query{{"q", "a b+"}, {"r", ""}, {"", "x"}, {"q", "2"}};
    QCOMPARE(target->query, query);
    QVERIFY(parseTarget("/", "h")->segments.empty());
    QCOMPARE(parseTarget("/...", "h")->segments.front(), "...");
}

void TestRequestPolicy::refusesTargets_data()
{
    QTest::addColumn<QByteArray>("target");
    for (const char* target : {"/../x", "/a/./b",   "/a/..",         "/%2e%2e/x", "/%2E",    "/a//b",     "/a/", "/%",
                               "/%4",   "/%zz",     "/%00",          "/%ff",      "/%c0%af", "/a#b",      "*",   "a",
                               "",      "ftp://h/", "http://other/", "/?q=%g0",   "/?%00=1", "/%ed%a0%80"})
        QTest::newRow(target) << QByteArray(target);
}

void TestRequestPolicy::refusesTargets()
{
    QFETCH(const QByteArray, target);
    ASSAY_FAILS(parseTarget(target.toStdString(), "h"), ErrorCode::InvalidArgument);
}

void TestRequestPolicy::acceptsAbsoluteFormOnlyForItsHost()
{
    QCOMPARE(parseTarget("http://H:1/a?b=c", "h:1")->segments.front(), "a");
    QVERIFY(parseTarget("https://h", "h")->segments.empty());
    QCOMPARE(parseTarget("http://h?x=1", "h")->query.front().second, "1");
    ASSAY_FAILS(parseTarget("http://h:2/", "h:1"), ErrorCode::InvalidArgument);
    ASSAY_FAILS(parseTarget("http://u@h/", "h"), ErrorCode::InvalidArgument);
}

void TestRequestPolicy::readsListenAddresses()
{
    const auto four = parseListenAddress("localhost:8473");
    QVERIFY(four->host == "127.0.0.1" && four->port == 8473 && four->isLoopback());
    QVERIFY(!parseListenAddress("0.0.0.0:1")->isLoopback());
    const auto six = parseListenAddress("[::1]:0?tls=off");
    QVERIFY(six->family == ListenAddress::Family::IPv6 && six->tls == ListenAddress::Tls::Off);
    const auto local = parseListenAddress("unix:/run/a.sock?ingress=trusted&mode=0660");
    QVERIFY(local->host == "/run/a.sock" && local->mode == 0660 && local->ingress == ListenAddress::Ingress::Trusted);
}

void TestRequestPolicy::refusesListenAddresses_data()
{
    QTest::addColumn<QByteArray>("text");
    for (const char* text : {"", "8473", "127.0.0.1", "127.0.0.1:70000", "127.0.0.1:+1", "example.org:80", "[::1:80",
                             "::1:80", "unix:relative", "unix:", "0.0.0.0:80?ingress=trusted", "[::]:1?ingress=trusted",
                             "127.0.0.1:1?mode=0660", "127.0.0.1:1?x", "unix:/a?mode=9"})
        QTest::newRow(text) << QByteArray(text);
}

void TestRequestPolicy::refusesListenAddresses()
{
    QFETCH(const QByteArray, text);
    ASSAY_FAILS(parseListenAddress(text.toStdString()), ErrorCode::InvalidArgument);
}

void TestRequestPolicy::dropsReplyFieldsThatWouldSplitTheReply()
{
    const api::Reply reply{
        .headers = {{"X-Good", "1"}, {"X-Bad", "1\r\nSet-Cookie: a"}, {"X Bad", "1"}, {"ETag", "\"a\""}}, .body = {}};
    const std::string head = replyHead(reply, {.length = 3});
    QVERIFY(head.starts_with("HTTP/1.1 200 OK\r\n"));
    QVERIFY(head.contains("X-Good: 1\r\n") && head.contains("ETag: \"a\"\r\n") &&
            head.contains("Content-Length: 3\r\n"));
    QVERIFY(!head.contains("Set-Cookie") && !head.contains("X Bad"));
    QVERIFY(head.contains("X-Content-Type-Options: nosniff\r\n") && head.contains("Cache-Control: no-store\r\n"));
    QVERIFY(!replyHead({.status = 204, .headers = {}, .body = {}}, {}).contains("Content-Length"));
}

QTEST_APPLESS_MAIN(TestRequestPolicy)
#include "tst_request_policy.moc"
