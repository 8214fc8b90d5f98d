// SPDX-License-Identifier: Apache-2.0
#include "server/auth/scope.h"
#include "server/core/base64.h"
#include "server/core/digest.h"
#include "server/core/json.h"
#include "tests/support/test_support.h"

#include <QJsonArray>
#include <QJsonDocument>

#include <set>

using namespace assay;
using namespace assay::auth;

class TestScope : public QObject
{
    Q_OBJECT

private slots:
    void fingerprintIsTheHashOfTheCanonicalPairs();
    void pairsAreNotConfusedWithEachOther();
    void refusesPairsOutOfBounds();
    void naughtyStringsAreKeptApart();
    void readsTheHeader();
    void refusesMalformedHeaders();
};

void TestScope::fingerprintIsTheHashOfTheCanonicalPairs()
{
    const std::string expected = "sc_" + Digest::ofBytes(R"({"org":"acme","team":"core"})").hex().substr(0, 32);
    QCOMPARE(scopeFingerprint({{"team", "core"}, {"org", "acme"}}).value(), expected);
}

void TestScope::pairsAreNotConfusedWithEachOther()
{
    const std::vector<ScopePairs> scopes{{{"a", "b"}},
                                         {{"a", "B"}},
                                         {{"b", "a"}},
                                         {{"a", "b"}, {"c", ""}},
                                         {{"a", "b\",\"c\":\""}},
                                         {{"a", "b "}},
                                         {{"a", "\u00e9"}},
                                         {{"a", "e\u0301"}},
                                         {{"a", ""}}};
    std::set<std::string> seen;
    for (const ScopePairs& scope : scopes)
        seen.insert(scopeFingerprint(scope).value());
    QCOMPARE(seen.size(), scopes.size());
}

void TestScope::refusesPairsOutOfBounds()
{
    ScopePairs many;
    for (std::size_t i = 0; i < kMaxScopePairs; ++i)
        many.emplace("k" + std::to_string(i), "v");
    ASSAY_OK(scopeFingerprint(many));
    many.emplace("one more", "v");
    ASSAY_FAILS(scopeFingerprint(many), ErrorCode::InvalidArgument);
    ASSAY_FAILS(scopeFingerprint({}), ErrorCode::InvalidArgument);
    ASSAY_FAILS(scopeFingerprint({{"", "v"}}), ErrorCode::InvalidArgument);
    ASSAY_OK(scopeFingerprint({{std::string(kMaxScopeKeyBytes, 'k'), std::string(kMaxScopeValueBytes, 'v')}}));
    ASSAY_FAILS(scopeFingerprint({{std::string(kMaxScopeKeyBytes + 1, 'k'), "v"}}), ErrorCode::InvalidArgument);
    ASSAY_FAILS(scopeFingerprint({{"k", std::string(kMaxScopeValueBytes + 1, 'v')}}), ErrorCode::InvalidArgument);
    ASSAY_FAILS(scopeFingerprint({{"k", "\xff"}}), ErrorCode::InvalidArgument);
    ASSAY_FAILS(scopeFingerprint({{"\xc0\x80", "v"}}), ErrorCode::InvalidArgument);
}

void TestScope::naughtyStringsAreKeptApart()
{
    const QString vectors = test::vectorsDirectory();
    if (vectors.isEmpty())
        QSKIP("the shared test data is not on this machine");
    QFile file(vectors + "/blns/blns.json");
    QVERIFY(file.open(QIODevice::ReadOnly));
    std::set<std::string> texts;
    std::set<std::string> fingerprints;
    for (const QJsonValue& value : QJsonDocument::fromJson(file.readAll()).array()) {
        const std::string text = value.toString().toStdString();
        texts.insert(text);
        const auto fingerprint = scopeFingerprint({{"tenant", text}});
        ASSAY_OK(fingerprint);
        fingerprints.insert(*fingerprint);
        const auto read = readScopeHeader(toBase64Url(json::serialize(json::object{{"tenant", text}})));
        ASSAY_OK(read);
        QCOMPARE(read->at("tenant"), text);
    }
    QVERIFY(texts.size() > 400);
    QCOMPARE(fingerprints.size(), texts.size());
}

void TestScope::readsTheHeader()
{
    QCOMPARE(readScopeHeader("eyJvcmciOiJhY21lIn0").value(), (ScopePairs{{"org", "acme"}}));
    QCOMPARE(readScopeHeader("eyJvcmciOiJhY21lIn0=").value(), (ScopePairs{{"org", "acme"}}));
}

void TestScope::refusesMalformedHeaders()
{
    for (const char* json : {"", "[]", "null", R"({"a":1})", R"({"a":null})", R"({"a":"b","a":"c"})",
                             R"({"a":"b"} )"
                             "x",
                             "{\"a\":\"\xff\"}"})
        ASSAY_FAILS(readScopeHeader(toBase64Url(json)), ErrorCode::InvalidArgument);
    for (const char* header : {"", "{\"org\":\"acme\"}", "eyJvcmciOiJhY21lIn0==", "eyJvcmciOiJh Y21lIn0"})
        ASSAY_FAILS(readScopeHeader(header), ErrorCode::InvalidArgument);
}

QTEST_APPLESS_MAIN(TestScope)
#include "tst_scope.moc"
