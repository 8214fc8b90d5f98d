// SPDX-License-Identifier: Apache-2.0
#include "server/api/replies.h"
#include "tests/support/test_support.h"

using namespace assay;
using namespace assay::api;

class TestReplyForms : public QObject
{
    Q_OBJECT

private slots:
    void problemsCarryWhatTheirCodeNeeds();
    void resourcesAnswerConditions();
    void aConditionOnAChangeIsNotAReadCondition();
    void downloadsAreNeverRendered();
    void onlyPinnedDownloadsAreKeptForEver();
    void harmfulTypesAreReplaced_data();
    void harmfulTypesAreReplaced();
    void fileNamesCannotBreakTheHeader();
};

namespace {

std::string headerOf(const Reply& reply, std::string_view name)
{
    for (const auto& [key, value] : reply.headers)
        if (key == name)
            return value;
    return "none";
}

Request get(const std::string& ifNoneMatch = {})
{
    Request request;
    if (!ifNoneMatch.empty())
        request.head.headers["if-none-match"] = ifNoneMatch;
    return request;
}

Download download(std::string type, Keep keep = Keep::AskAgain)
{
    static const std::string bytes = "<script>";
    return {{bytes, nullptr}, "sha256:7", std::move(type), "a.html", keep};
}

} // namespace

void TestReplyForms::problemsCarryWhatTheirCodeNeeds()
{
    const Reply unknown = problemReply({ErrorCode::Unauthenticated, "m", "secret detail", {}, {}}, "/v1");
    QCOMPARE(unknown.status, 401);
    QCOMPARE(headerOf(unknown, "WWW-Authenticate"), "Bearer");
    QCOMPARE(headerOf(unknown, "Content-Type"), "application/problem+json");
    QVERIFY(!std::get<std::string>(unknown.body).contains("secret"));
    QVERIFY(headerOf(problemReply({ErrorCode::Unavailable, "m", {}, {}, {}}, "/v1"), "Retry-After") != "none");
    QCOMPARE(problemReply({ErrorCode::Cancelled, "m", {}, {}, {}}, "/v1").status, 499);
}

void TestReplyForms::resourcesAnswerConditions()
{
    const json::object body{{"a", 1}};
    const Reply fresh = resourceReply(get(), 200, body, "7");
    QCOMPARE(headerOf(fresh, "ETag"), "\"7\"");
    const Reply same = resourceReply(get("\"7\""), 200, body, "7");
    QCOMPARE(same.status, 304);
    QVERIFY(std::get<std::string>(same.body).empty());
    QCOMPARE(headerOf(same, "ETag"), "\"7\"");
    QCOMPARE(resourceReply(get("\"8\""), 200, body, "7").status, 200);
    const std::string own = headerOf(resourceReply(get(), 200, body), "ETag");
    QCOMPARE(resourceReply(get(own), 200, body).status, 304);
    QCOMPARE(resourceReply(get(own), 200, {{"a", 2}}).status, 200);
}

void TestReplyForms::aConditionOnAChangeIsNotAReadCondition()
{
    Request put = get("*");
    put.head.method = Method::Put;
    QCOMPARE(resourceReply(put, 200, {{"a", 1}}, "7").status, 200);
}

void TestReplyForms::downloadsAreNeverRendered()
{
    const Reply reply = downloadReply(get(), download("text/html"));
    QCOMPARE(headerOf(reply, "Content-Type"), "text/plain; charset=utf-8");
    QVERIFY(headerOf(reply, "Content-Security-Policy").contains("sandbox"));
    QVERIFY(headerOf(reply, "Content-Disposition").starts_with("attachment; "));
    QCOMPARE(std::get<Reply::Shared>(reply.body).bytes, "<script>");
    QCOMPARE(downloadReply(get("\"sha256:7\""), download("text/html")).status, 304);
}

void TestReplyForms::onlyPinnedDownloadsAreKeptForEver()
{
    QVERIFY(headerOf(downloadReply(get(), download("a/b", Keep::Forever)), "Cache-Control").contains("immutable"));
    QVERIFY(!headerOf(downloadReply(get(), download("a/b", Keep::AskAgain)), "Cache-Control").contains("immutable"));
    QVERIFY(headerOf(downloadReply(get(), download("a/b", Keep::Forever)), "Cache-Control").contains("private"));
}

void TestReplyForms::harmfulTypesAreReplaced_data()
{
    QTest::addColumn<QByteArray>("stored");
    QTest::addColumn<QByteArray>("sent");
    const auto row = [](const char* stored, const char* sent) {
        QTest::newRow(stored) << QByteArray(stored) << QByteArray(sent);
    };
    row("text/html", "text/plain; charset=utf-8");
    row("text/javascript; charset=x", "text/plain; charset=utf-8");
    row("application/json", "text/plain; charset=utf-8");
    row("image/png", "image/png");
    row("image/svg+xml", "application/octet-stream");
    row("application/xhtml+xml", "application/octet-stream");
    row("application/pdf", "application/octet-stream");
    row("image/png\r\nX: y", "application/octet-stream");
    row("", "application/octet-stream");
}

void TestReplyForms::harmfulTypesAreReplaced()
{
    QFETCH(QByteArray, stored);
    QFETCH(QByteArray, sent);
    QCOMPARE(harmlessMediaType(stored.toStdString()), sent.toStdString());
}

void TestReplyForms::fileNamesCannotBreakTheHeader()
{
    QCOMPARE(attachmentHeader("a-b_1.txt"), "attachment; filename=\"a-b_1.txt\"; filename*=UTF-8''a-b_1.txt");
    const std::string hostile = attachmentHeader("\"\r\nX: \u00e9%/../;");
    QVERIFY(std::ranges::all_of(hostile, [](char c) { return c >= ' ' && c < 0x7f; }));
    QCOMPARE(std::ranges::count(hostile, '"'), 2);
    QVERIFY(hostile.contains("%C3%A9"));
}

QTEST_APPLESS_MAIN(TestReplyForms)
#include "tst_reply_forms.moc"
