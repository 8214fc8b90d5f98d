// SPDX-License-Identifier: Apache-2.0
#include "server/api/etag.h"
#include "tests/support/test_support.h"

using namespace assay;
using namespace assay::api;

class TestEtag : public QObject
{
    Q_OBJECT

private slots:
    void readsOneTag();
    void aWeakTagMatchesNothing();
    void refusesWhatIsNoTag();
    void comparesLists();
    void createsOnlyWithAStar();
    void tagsOfBodiesDiffer();
};

void TestEtag::readsOneTag()
{
    QCOMPARE(readIfMatch("").value(), std::optional<std::string>());
    QCOMPARE(readIfMatch("*").value(), std::optional<std::string>("*"));
    QCOMPARE(readIfMatch("\"a b\"").value(), std::optional<std::string>("a b"));
    QCOMPARE(readIfMatch(" \"\" ").value(), std::optional<std::string>(""));
}

void TestEtag::aWeakTagMatchesNothing() { QCOMPARE(readIfMatch("W/\"7\"").value(), std::optional<std::string>("W/7")); }

void TestEtag::refusesWhatIsNoTag()
{
    for (const char* bad : {"7", "\"", "\"7", "7\"", "\"a\", \"b\"", "w/\"7\"", "**", "\"a\"\"b\""})
        ASSAY_FAILS(readIfMatch(bad), ErrorCode::InvalidArgument);
}

void TestEtag::comparesLists()
{
    QVERIFY(noneMatchNames("*", "7"));
    QVERIFY(noneMatchNames("\"7\"", "7"));
    QVERIFY(noneMatchNames("W/\"7\"", "7"));
    QVERIFY(noneMatchNames("\"1\",\"7\" , \"9\"", "7"));
    for (const char* other : {"", "7", "\"8\"", "\"77\"", ",,,", "\"7"})
        QVERIFY2(!noneMatchNames(other, "7"), other);
}

void TestEtag::createsOnlyWithAStar()
{
    QCOMPARE(readCreateOnly("").value(), false);
    QCOMPARE(readCreateOnly(" * ").value(), true);
    ASSAY_FAILS(readCreateOnly("\"7\""), ErrorCode::InvalidArgument);
}

void TestEtag::tagsOfBodiesDiffer()
{
    QCOMPARE(tagOfBody("a").size(), 32U);
    QVERIFY(tagOfBody("a") != tagOfBody("b"));
    QCOMPARE(quotedTag("a"), "\"a\"");
}

QTEST_APPLESS_MAIN(TestEtag)
#include "tst_etag.moc"
