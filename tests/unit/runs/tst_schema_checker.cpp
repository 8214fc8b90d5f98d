// SPDX-License-Identifier: Apache-2.0
#include "server/runs/schema_checker.h"
#include "tests/support/test_support.h"

using namespace assay;
using namespace assay::runs;

class TestSchemaChecker : public QObject
{
    Q_OBJECT

private slots:
    void acceptsWhatFits();
    void pointsAtWhatDoesNotFit();
    void tellsAnUnusableSchema();
    void fetchesNothing();
    void survivesSchemasThatNeverEnd_data();
    void survivesSchemasThatNeverEnd();
    void refusesALargeSchema();
    void tellsThatTheProgramIsMissing();

private:
    Result<void> check(std::string_view schema, std::string_view instance)
    {
        return m_check(schema, instance, "/command/input");
    }
    SchemaCheck m_check = makeSchemaCheck(std::filesystem::path(ASSAY_BIN_DIR) / "assay-schema-check");
};

void TestSchemaChecker::acceptsWhatFits()
{
    ASSAY_OK(check(R"({"type":"object","required":["a"]})", "{\"a\":1}\n"));
    ASSAY_OK(check("true", "null"));
    ASSAY_OK(check(R"({"pattern":"^TCK-[0-9]+$"})", "\"TCK-12\""));
}

void TestSchemaChecker::pointsAtWhatDoesNotFit()
{
    const auto result = check(R"({"type":"object","properties":{"a~b":{"items":{"type":"integer"}}},"required":["c"]})",
                              R"({"a~b":[1,"x"]})");
    ASSAY_FAILS(result, ErrorCode::InvalidArgument);
    QStringList pointers;
    for (const auto& problem : result.error().problems) {
        pointers << QString::fromStdString(problem.pointer);
        QVERIFY(!problem.message.empty());
    }
    pointers.sort();
    QCOMPARE(pointers, (QStringList{"/command/input", "/command/input/a~0b/1"}));
}

void TestSchemaChecker::tellsAnUnusableSchema()
{
    for (const char* bad : {"{", "3", R"({"type":"no-such-type"})"}) {
        const auto result = check(bad, "1");
        ASSAY_FAILS(result, ErrorCode::Refused);
        QCOMPARE(result.error().reason, "schema_unusable");
    }
}

void TestSchemaChecker::fetchesNothing()
{
    const auto result = check(R"({"$ref":"https://example.org/other.json"})", "1");
    ASSAY_FAILS(result, ErrorCode::Refused);
    QCOMPARE(result.error().reason, "schema_unusable");
}

void TestSchemaChecker::survivesSchemasThatNeverEnd_data()
{
    QTest::addColumn<QByteArray>("schema");
    QTest::addColumn<QByteArray>("instance");
    QTest::newRow("refers to itself") << QByteArray(R"({"$ref":"#"})") << QByteArray("1");
    QTest::newRow("backtracking pattern")
        << QByteArray(R"({"pattern":"^(a+)+$"})") << '"' + QByteArray(40, 'a') + "b\"";
    QTest::newRow("pattern on a long text")
        << QByteArray(R"({"pattern":"^(a|b)*$"})") << '"' + QByteArray(2'000'000, 'a') + '"';
    QByteArray doubling = R"({"$defs":{)";
    for (int i = 0; i < 40; ++i)
        doubling += QStringLiteral(R"("d%1":{"allOf":[{"$ref":"#/$defs/d%2"},{"$ref":"#/$defs/d%2"}]},)")
                        .arg(i)
                        .arg(i + 1)
                        .toUtf8();
    QTest::newRow("doubling references") << doubling + R"("d40":{"type":"integer"}},"$ref":"#/$defs/d0"})"
                                         << QByteArray("1");
}

void TestSchemaChecker::survivesSchemasThatNeverEnd()
{
    QFETCH(QByteArray, schema);
    QFETCH(QByteArray, instance);
    const auto begin = std::chrono::steady_clock::now();
    const auto result = check(schema.toStdString(), instance.toStdString());
    ASSAY_FAILS(result, ErrorCode::Refused);
    QCOMPARE(result.error().reason, "schema_unusable");
    QVERIFY(std::chrono::steady_clock::now() - begin < std::chrono::seconds(6));
}

void TestSchemaChecker::refusesALargeSchema()
{
    const auto schema = R"({"description":")" + std::string(300'000, 'x') + "\"}";
    const auto result = check(schema, "1");
    ASSAY_FAILS(result, ErrorCode::Refused);
    QVERIFY(result.error().message.contains("262144"));
}

void TestSchemaChecker::tellsThatTheProgramIsMissing()
{
    ASSAY_FAILS(makeSchemaCheck("/nowhere/assay-schema-check")("true", "1", "/x"), ErrorCode::Unavailable);
}

QTEST_APPLESS_MAIN(TestSchemaChecker)
#include "tst_schema_checker.moc"
