// SPDX-License-Identifier: Apache-2.0
#include "app/cli/api_client.h"
#include "app/cli/console.h"
#include "app/cli/event_stream.h"
#include "app/cli/json_fields.h"
#include "app/cli/settings.h"
#include "tests/support/test_support.h"

#include <QTemporaryDir>
#include <fstream>

#include <sys/stat.h>

using namespace assay;
using namespace assay::cli;

class TestCliClient : public QObject
{
    Q_OBJECT

private slots:
    void readsServerAddresses();
    void refusesMalformedAddresses();
    void sendsTokensOnlyWhereTheyStayPrivate();
    void refusesProfilesThatOthersMayRead();
    void prefersFlagsToEnvironmentToProfile();
    void namesFileAndLineOfAProfileFault();
    void readsEventsHoweverTheyAreCut();
    void forgetsTheIdOfAHalfReadEvent();
    void endsAnEventStreamOnRequest();
    void refusesEndlessEvents();
    void showsHiddenCharacters();
    void alignsTables();
    void readsProblemDocuments();
    void survivesAnswersThatAreNoProblem();
    void encodesPathSegments();
    void readsMissingMembersAsEmpty();
};

namespace {

std::function<const char*(const char*)> environmentOf(std::map<std::string, std::string> values)
{
    return [values = std::move(values)](const char* name) -> const char* {
        const auto found = values.find(name);
        return found == values.end() ? nullptr : found->second.c_str();
    };
}

std::string profileIn(const QTemporaryDir& dir, const std::string& text, mode_t mode)
{
    const std::string path = dir.filePath("profile").toStdString();
    std::ofstream(path) << text;
    ::chmod(path.c_str(), mode);
    return path;
}

} // namespace

void TestCliClient::readsServerAddresses()
{
    const auto plainHttp = ServerAddress::parse("http://127.0.0.1:8473/").value();
    QCOMPARE(plainHttp.host, "127.0.0.1");
    QCOMPARE(plainHttp.port, "8473");
    QCOMPARE(plainHttp.text(), "http://127.0.0.1:8473");
    QCOMPARE(ServerAddress::parse("https://assay.example.org").value().port, "443");
    QCOMPARE(ServerAddress::parse("https://assay.example.org").value().authority(), "assay.example.org");
    QCOMPARE(ServerAddress::parse("http://[::1]:81").value().authority(), "[::1]:81");
    QCOMPARE(ServerAddress::parse("unix:/run/assay.sock").value().path, "/run/assay.sock");
}

void TestCliClient::refusesMalformedAddresses()
{
    const std::string longPath = "unix:/" + std::string(107, 'x');
    for (const std::string& bad :
         {std::string(), std::string("127.0.0.1:80"), std::string("http://"), std::string("http://a:0"),
          std::string("http://a:65536"), std::string("http://a:8x"), std::string("http://user@host"),
          std::string("http://a/path"), std::string("http://[::1"), std::string("http://[g]"), std::string("ftp://a"),
          std::string("unix:relative"), longPath})
        QVERIFY2(!ServerAddress::parse(bad), bad.c_str());
}

void TestCliClient::sendsTokensOnlyWhereTheyStayPrivate()
{
    for (const char* good : {"https://a.example", "unix:/s", "http://127.0.0.1", "http://127.9.9.9:1", "http://[::1]:8",
                             "http://localhost"})
        QVERIFY2(ServerAddress::parse(good).value().keepsSecrets(), good);
    for (const char* bad : {"http://10.0.0.1", "http://a.example", "http://127.example.org", "http://[::2]"})
        QVERIFY2(!ServerAddress::parse(bad).value().keepsSecrets(), bad);
    Settings settings;
    settings.address = ServerAddress::parse("http://192.0.2.1:9").value();
    settings.token = "secret-of-a-test";
    HttpClient client(settings, nullptr);
    const auto sent = client.send({});
    ASSAY_FAILS(sent, ErrorCode::InvalidArgument);
    QVERIFY(!QString::fromStdString(sent.error().message).contains("secret-of-a-test"));
}

void TestCliClient::refusesProfilesThatOthersMayRead()
{
    const QTemporaryDir dir;
    for (const mode_t mode : {0640, 0604, 0620, 0601}) {
        const std::string path = profileIn(dir, "token = t\n", mode);
        const auto read = loadSettings({.profile = path}, environmentOf({}));
        ASSAY_FAILS(read, ErrorCode::PermissionDenied);
        QVERIFY(QString::fromStdString(read.error().message).contains("chmod 600"));
    }
    const std::string path = profileIn(dir, "token = t\n", 0600);
    QCOMPARE(loadSettings({.profile = path}, environmentOf({})).value().token, "t");
}

void TestCliClient::prefersFlagsToEnvironmentToProfile()
{
    const QTemporaryDir dir;
    const std::string path = profileIn(dir, "# mine\nurl = http://profile.example\ntoken=p\n\nca = /p.pem\n", 0600);
    const auto fromProfile = loadSettings({.profile = path}, environmentOf({})).value();
    QCOMPARE(fromProfile.address.host, "profile.example");
    QCOMPARE(fromProfile.ca, "/p.pem");
    const auto environment =
        environmentOf({{"ASSAY_URL", "http://environment.example"}, {"ASSAY_TOKEN", "e"}, {"ASSAY_PROFILE", path}});
    QCOMPARE(loadSettings({}, environment).value().address.host, "environment.example");
    QCOMPARE(loadSettings({}, environment).value().token, "e");
    QCOMPARE(loadSettings({.url = "unix:/flag"}, environment).value().address.path, "/flag");
    QCOMPARE(loadSettings({}, environmentOf({{"HOME", "/nonexistent"}})).value().address.text(),
             std::string(kDefaultUrl));
    const std::string pin(64, 'A');
    QCOMPARE(loadSettings({.fingerprint = pin}, environmentOf({})).value().fingerprint, std::string(64, 'a'));
    ASSAY_FAILS(loadSettings({.fingerprint = "abc"}, environmentOf({})), ErrorCode::InvalidArgument);
}

void TestCliClient::namesFileAndLineOfAProfileFault()
{
    const QTemporaryDir dir;
    for (const char* bad :
         {"url = http://a\n\nsecret = x\n", "url = http://a\n\nurl = http://b\n", "url = http://a\n\nnonsense\n"}) {
        const std::string path = profileIn(dir, bad, 0600);
        const auto read = loadSettings({.profile = path}, environmentOf({}));
        ASSAY_FAILS(read, ErrorCode::InvalidArgument);
        QVERIFY(QString::fromStdString(read.error().message).startsWith(QString::fromStdString(path) + ":3:"));
    }
    ASSAY_FAILS(loadSettings({.profile = dir.filePath("missing").toStdString()}, environmentOf({})),
                ErrorCode::NotFound);
}

void TestCliClient::readsEventsHoweverTheyAreCut()
{
    const std::string text =
        ": hello\n\nid: 1\nevent: phase\ndata: {\"a\":1}\n\nid: 2\r\ndata: one\r\ndata: two\r\n\r\n"
        "id:3\rdata:x\r\rdata: y\n\nevent: empty\n\nid: 9\ndata: unfinished";
    for (std::size_t size = 1; size <= text.size(); ++size) {
        EventStreamReader reader;
        std::vector<StreamEvent> events;
        for (std::size_t at = 0; at < text.size(); at += size)
            QVERIFY(reader
                        .feed(std::string_view(text).substr(at, size),
                              [&](const StreamEvent& event) {
                                  events.push_back(event);
                                  return true;
                              })
                        .value());
        QCOMPARE(events.size(), 4U);
        QCOMPARE(events[0].type, "phase");
        QCOMPARE(events[0].data, "{\"a\":1}");
        QCOMPARE(events[1].data, "one\ntwo");
        QCOMPARE(events[1].type, "message");
        QCOMPARE(events[2].id, "3");
        QCOMPARE(events[3].id, "3");
    }
}

void TestCliClient::forgetsTheIdOfAHalfReadEvent()
{
    EventStreamReader reader;
    const auto any = [](const StreamEvent&) { return true; };
    QVERIFY(reader.feed("id: 4\ndata: x\n\nid: 5\ndata: ha", any).value());
    QCOMPARE(reader.lastId(), "4");
    reader.restart();
    QVERIFY(reader.feed("data: y\n\n", any).value());
    QCOMPARE(reader.lastId(), "4");
}

void TestCliClient::endsAnEventStreamOnRequest()
{
    EventStreamReader reader;
    int count = 0;
    const auto wants = reader.feed("data: 1\n\ndata: 2\n\n", [&](const StreamEvent&) { return ++count < 1; });
    QVERIFY(wants && !*wants);
    QCOMPARE(count, 1);
}

void TestCliClient::refusesEndlessEvents()
{
    EventStreamReader reader;
    const std::string piece(1 << 20, 'x');
    Result<bool> fed = true;
    for (int i = 0; i < 6 && fed; ++i)
        fed = reader.feed(i ? piece : "data: " + piece, [](const StreamEvent&) { return true; });
    ASSAY_FAILS(fed, ErrorCode::TooLarge);
}

void TestCliClient::showsHiddenCharacters()
{
    QCOMPARE(plain("plain é 日本"), "plain é 日本");
    QCOMPARE(plain("a\x1b[2Jb"), "a\\u{001B}[2Jb");
    QCOMPARE(plain("x\u202Ey\u200B"), "x\\u{202E}y\\u{200B}");
    QCOMPARE(plain("line\nbreak"), "line\\u{000A}break");
    QCOMPARE(plain("bad\xff!"), "bad\\xFF!");
    QCOMPARE(sizeText(312), "312 bytes");
    QCOMPARE(sizeText(1536), "1.5 KiB");
    QCOMPARE(durationText(850), "850 ms");
    QCOMPARE(durationText(185'000), "3 min 5 s");
}

void TestCliClient::alignsTables()
{
    TextTable table({"NAME", "SIZE"});
    QVERIFY(!table.hasRows());
    table.add({"größe", "1"});
    table.add({"a", "22"});
    QCOMPARE(table.text(), "NAME   SIZE\ngröße  1\na      22\n");
}

void TestCliClient::readsProblemDocuments()
{
    const Error error = problemError(
        {422,
         {},
         R"({"type":"about:blank","title":"The package breaks a rule","status":422,"code":"invalid_package",)"
         R"("detail":"2 findings","errors":[{"code":"missing_name","path":"SKILL.md","line":2,"column":1,"message":"no name"},)"
         R"({"code":"x","pointer":"/files","message":"m"}]})"});
    QCOMPARE(error.code, ErrorCode::InvalidPackage);
    QCOMPARE(errorText(error, "skills/demo"),
             "assayctl: 2 findings\n  skills/demo/SKILL.md:2:1: no name [missing_name]\n  /files: m [x]\n");
    const Error refused =
        problemError({422, {}, R"({"code":"refused","detail":"no such skill","reason":"skill_not_found"})"});
    QCOMPARE(refused.code, ErrorCode::Refused);
    QCOMPARE(refused.reason, "skill_not_found");
    QCOMPARE(traits(refused.code).exitStatus, 4);
    QVERIFY(QString::fromStdString(errorText(refused)).contains("what to do: "));
}

void TestCliClient::survivesAnswersThatAreNoProblem()
{
    QCOMPARE(problemError({502, {}, "<html>"}).code, ErrorCode::Internal);
    QCOMPARE(problemError({404, {}, ""}).code, ErrorCode::NotFound);
    // A code that contradicts the status does not count: the exit status follows what was answered.
    QCOMPARE(problemError({404, {}, R"({"code":"internal"})"}).code, ErrorCode::NotFound);
    QCOMPARE(problemError({400, {}, R"({"detail":7,"errors":{}})"}).code, ErrorCode::InvalidArgument);
}

void TestCliClient::encodesPathSegments()
{
    QCOMPARE(pathOf({"v1", "skills", "a/../b c?ü"}), "/v1/skills/a%2F..%2Fb%20c%3F%C3%BC");
    QCOMPARE(queryOf({{"q", "a&b"}, {"none", ""}, {"n", "1"}}), "?q=a%26b&n=1");
    QCOMPARE(queryOf({}), "");
}

void TestCliClient::readsMissingMembersAsEmpty()
{
    const auto value = parseJson(R"({"a":{"b":"text","n":-5},"list":["x","y"],"yes":true})").value();
    QCOMPARE(textOf(value, "a.b"), "text");
    QCOMPARE(textOf(value, "a.b.c"), "");
    QCOMPARE(textOf(value, "list"), "");
    QCOMPARE(numberOf(value, "a.n"), 0U);
    QCOMPARE(joined(value, "list"), "x, y");
    QVERIFY(isTrue(value, "yes") && !isTrue(value, "a"));
    QCOMPARE(prettyJson(parseJson(R"({"a":[1,{}],"b":[]})").value()),
             "{\n  \"a\": [\n    1,\n    {}\n  ],\n  \"b\": []\n}\n");
}

QTEST_APPLESS_MAIN(TestCliClient)
#include "tst_cli_client.moc"
