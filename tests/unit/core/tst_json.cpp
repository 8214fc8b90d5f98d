// SPDX-License-Identifier: Apache-2.0
#include "server/core/json.h"
#include "tests/support/test_support.h"

#include <QDir>

using namespace assay;

class TestJson : public QObject
{
    Q_OBJECT

private slots:
    void agreesWithTheJsonTestSuite();
    void refusesDuplicateMembersWithTheirPointer();
    void refusesDeepNesting();
    void writesCanonicalForm_data();
    void writesCanonicalForm();
};

void TestJson::agreesWithTheJsonTestSuite()
{
    const QString vectors = test::vectorsDirectory();
    if (vectors.isEmpty())
        QSKIP("the shared test data is not on this machine");
    const QDir dir(vectors + "/jsontestsuite/test_parsing");
    int seen = 0;
    for (const QString& name : dir.entryList({"*.json"})) {
        QFile file(dir.filePath(name));
        QVERIFY(file.open(QIODevice::ReadOnly));
        const auto value = parseJson(file.readAll().toStdString());
        // Ours alone: RFC 8259 lets a parser refuse what it calls "unpredictable", duplicate members.
        const bool duplicates = name.contains("duplicated_key");
        if (name.startsWith("y_") && !duplicates)
            QVERIFY2(value.has_value(), qPrintable(name));
        if (name.startsWith("n_") || duplicates)
            QVERIFY2(!value.has_value(), qPrintable(name));
        ++seen;
    }
    QVERIFY(seen > 200);
}

void TestJson::refusesDuplicateMembersWithTheirPointer()
{
    const auto value = parseJson(R"({"a": [1, {"b/c": 1, "b\u002fc": 2}]})");
    ASSAY_FAILS(value, ErrorCode::InvalidArgument);
    QCOMPARE(value.error().problems.front().pointer, "/a/1/b~1c");
}

void TestJson::refusesDeepNesting()
{
    ASSAY_OK(parseJson(std::string(kMaxJsonDepth, '[') + std::string(kMaxJsonDepth, ']')));
    const std::size_t deep = kMaxJsonDepth + 1;
    ASSAY_FAILS(parseJson(std::string(deep, '[') + std::string(deep, ']')), ErrorCode::InvalidArgument);
}

void TestJson::writesCanonicalForm_data()
{
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QByteArray>("canonical");
    // RFC 8785, appendix B and section 3.2.
    QTest::newRow("numbers")
        << QByteArray("[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001,-0,1e21,1e20,1e-6,1e-7,5e-324]")
        << QByteArray("[333333333.3333333,1e+30,4.5,0.002,1e-27,0,1e+21,100000000000000000000,0.000001,1e-7,5e-324]");
    QTest::newRow("strings") << QByteArray(R"(["\u20ac$\u000F\nA'\u0042\u0022\u005c\\\"\/"])")
                             << QByteArray("[\"\u20ac$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\"]");
    QTest::newRow("order")
        << QByteArray(R"({"\u20ac":1,"\r":2,"\ufb33":3,"1":4,"\ud83d\ude00":5,"\u0080":6,"\u00f6":7})")
        << QByteArray("{\"\\r\":2,\"1\":4,\"\u0080\":6,\"\u00f6\":7,\"\u20ac\":1,\"\U0001F600\":5,\"\ufb33\":3}");
    QTest::newRow("literals") << QByteArray("[ null , true,false, {} , [] ]") << QByteArray("[null,true,false,{},[]]");
}

void TestJson::writesCanonicalForm()
{
    QFETCH(QByteArray, text);
    QFETCH(QByteArray, canonical);
    const auto value = parseJson(text.toStdString());
    ASSAY_OK(value);
    QCOMPARE(QByteArray::fromStdString(canonicalJson(*value)), canonical);
}

QTEST_APPLESS_MAIN(TestJson)
#include "tst_json.moc"
