// SPDX-License-Identifier: Apache-2.0
#include "server/contract/object_reader.h"
#include "tests/support/test_support.h"

using namespace assay;
using contract::ObjectReader;

class TestObjectReader : public QObject
{
    Q_OBJECT

private slots:
    void readsWhatIsNamed();
    void refusesWrongValues_data();
    void refusesWrongValues();
    void refusesUnknownMembersAtEveryDepth();
    void collectsEveryFaultUpToItsLimit();
    void takesWholeNumbersInAnyNotation();
    void leavesTheTargetAloneOnFailure();
    void escapesPointers();
};

namespace {

struct Everything
{
    std::string text;
    std::optional<std::uint64_t> count;
    std::optional<double> positive;
    std::optional<bool> flag;
    std::optional<Timestamp> time;
    std::vector<std::string> texts;
    std::map<std::string, std::string> map;
    std::optional<json::value> any;
};

constexpr std::array<std::string_view, 2> kChoices{"left", "right"};

Result<Everything> readEverything(const std::string& text)
{
    const json::value value = parseJson(text).value();
    Everything out;
    std::string choice;
    ObjectReader in(value);
    in.text("text", out.text, {.minBytes = 1, .maxBytes = 5})
        .text("choice", choice, {.oneOf = kChoices})
        .count("count", out.count, 2, 10)
        .positive("positive", out.positive, 4)
        .flag("flag", out.flag)
        .time("time", out.time)
        .texts("texts", out.texts, {.maxItems = 2, .item = {.maxBytes = 3}})
        .textMap("map", out.map, {.maxItems = 2, .item = {.maxBytes = 3}}, {.minBytes = 1, .maxBytes = 3})
        .any("any", out.any)
        .object("object",
                [](ObjectReader& inner) {
                    inner.require("must");
                    std::string must;
                    inner.text("must", must);
                })
        .objects("objects", 2, [](ObjectReader& inner) {
            bool on = false;
            inner.flag("on", on);
        });
    return in.finish(std::move(out));
}

} // namespace

void TestObjectReader::readsWhatIsNamed()
{
    const auto read = readEverything(R"({"text": "\u00e9t\u00e9", "choice": "left", "count": 10, "positive": 0.5,
        "flag": false, "time": "2026-11-30T12:00:00Z", "texts": ["a", ""], "map": {"k": "v"}, "any": null,
        "object": {"must": "x"}, "objects": [{}, {"on": true}]})");
    ASSAY_OK(read);
    QCOMPARE(read->text, "\u00e9t\u00e9");
    QCOMPARE(read->count, std::optional<std::uint64_t>(10));
    QCOMPARE(read->positive, std::optional(0.5));
    QCOMPARE(read->flag, std::optional(false));
    QCOMPARE(formatTimestamp(*read->time), "2026-11-30T12:00:00.000Z");
    QCOMPARE(read->texts.size(), 2U);
    QCOMPARE(read->map.at("k"), "v");
    QVERIFY(read->any && read->any->is_null());
    ASSAY_OK(readEverything("{}"));
}

void TestObjectReader::refusesWrongValues_data()
{
    QTest::addColumn<QByteArray>("body");
    QTest::addColumn<QByteArray>("pointer");
    const auto row = [](const char* body, const char* pointer) {
        QTest::newRow(body) << QByteArray(body) << QByteArray(pointer);
    };
    row("[]", "");
    row("null", "");
    row("\"text\"", "");
    row(R"({"text": null})", "/text");
    row(R"({"text": 1})", "/text");
    row(R"({"text": ""})", "/text");
    row(R"({"text": "123456"})", "/text");
    row(R"({"text": "a\u0000"})", "/text");
    row(R"({"choice": "up"})", "/choice");
    row(R"({"choice": "Left"})", "/choice");
    row(R"({"count": null})", "/count");
    row(R"({"count": "3"})", "/count");
    row(R"({"count": 1})", "/count");
    row(R"({"count": 11})", "/count");
    row(R"({"count": -3})", "/count");
    row(R"({"count": 2.5})", "/count");
    row(R"({"count": 1e300})", "/count");
    row(R"({"count": 18446744073709551615})", "/count");
    row(R"({"positive": 0})", "/positive");
    row(R"({"positive": -1})", "/positive");
    row(R"({"positive": 4.1})", "/positive");
    row(R"({"positive": "1"})", "/positive");
    row(R"({"positive": null})", "/positive");
    row(R"({"flag": 0})", "/flag");
    row(R"({"flag": "true"})", "/flag");
    row(R"({"flag": null})", "/flag");
    row(R"({"time": "yesterday"})", "/time");
    row(R"({"time": 0})", "/time");
    row(R"({"texts": "a"})", "/texts");
    row(R"({"texts": ["a", "b", "c"]})", "/texts");
    row(R"({"texts": ["a", null]})", "/texts/1");
    row(R"({"texts": ["abcd"]})", "/texts/0");
    row(R"({"map": []})", "/map");
    row(R"({"map": {"a": "1", "b": "2", "c": "3"}})", "/map");
    row(R"({"map": {"a": 1}})", "/map/a");
    row(R"({"map": {"": "1"}})", "/map/");
    row(R"({"map": {"abcd": "1"}})", "/map/abcd");
    row(R"({"object": {}})", "/object/must");
    row(R"({"object": 3})", "/object");
    row(R"({"objects": {}})", "/objects");
    row(R"({"objects": [1]})", "/objects/0");
    row(R"({"objects": [{}, {}, {}]})", "/objects");
}

void TestObjectReader::refusesWrongValues()
{
    QFETCH(QByteArray, body);
    QFETCH(QByteArray, pointer);
    const auto read = readEverything(body.toStdString());
    ASSAY_FAILS(read, ErrorCode::InvalidArgument);
    QCOMPARE(read.error().problems.front().pointer, pointer.toStdString());
    QVERIFY(!read.error().problems.front().message.empty());
}

void TestObjectReader::refusesUnknownMembersAtEveryDepth()
{
    QCOMPARE(readEverything(R"({"tex": "a"})").error().problems.front().pointer, "/tex");
    QCOMPARE(readEverything(R"({"object": {"must": "x", "more": 1}})").error().problems.front().pointer,
             "/object/more");
    QCOMPARE(readEverything(R"({"objects": [{}, {"off": 1}]})").error().problems.front().pointer, "/objects/1/off");
}

void TestObjectReader::collectsEveryFaultUpToItsLimit()
{
    const auto two = readEverything(R"({"text": 1, "count": 2.5, "what": 0})");
    QCOMPARE(two.error().problems.size(), 3U);
    std::string many = "{";
    for (int i = 0; i < 500; ++i)
        many += "\"u" + std::to_string(i) + "\":1,";
    many.back() = '}';
    QCOMPARE(readEverything(many).error().problems.size(), 100U);
}

void TestObjectReader::takesWholeNumbersInAnyNotation()
{
    QCOMPARE(readEverything(R"({"count": 2.0})").value().count, std::optional<std::uint64_t>(2));
    QCOMPARE(readEverything(R"({"count": 1e1})").value().count, std::optional<std::uint64_t>(10));
    QCOMPARE(readEverything(R"({"positive": 4})").value().positive, std::optional(4.0));
}

void TestObjectReader::leavesTheTargetAloneOnFailure()
{
    const json::value value = parseJson(R"({"a": 1, "b": ["x", 2]})").value();
    std::string text = "before";
    std::vector<std::string> list{"before"};
    ObjectReader in(value);
    in.text("a", text).texts("b", list);
    QVERIFY(in.failed());
    QCOMPARE(text, "before");
    QCOMPARE(list.front(), "before");
}

void TestObjectReader::escapesPointers()
{
    QCOMPARE(readEverything(R"({"a/b~c": 1})").error().problems.front().pointer, "/a~1b~0c");
}

QTEST_APPLESS_MAIN(TestObjectReader)
#include "tst_object_reader.moc"
