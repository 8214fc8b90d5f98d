// SPDX-License-Identifier: Apache-2.0
#include "server/auth/sealed_text.h"
#include "server/auth/token_secret.h"
#include "server/core/base64.h"
#include "tests/support/test_support.h"

#include <set>

using namespace assay;
using namespace assay::auth;

class TestSecrets : public QObject
{
    Q_OBJECT

private slots:
    void secretsAreLongAndNew();
    void readsOnlyBearerFields();
    void sealedTextOpensWithItsKeyOnly();
    void noticesEveryChangedBit();
};

void TestSecrets::secretsAreLongAndNew()
{
    std::set<std::string> seen;
    for (int i = 0; i < 100; ++i)
        seen.insert(newTokenSecret());
    QCOMPARE(seen.size(), 100U);
    QVERIFY(seen.begin()->starts_with("assay_"));
    QCOMPARE(fromBase64Url(seen.begin()->substr(6)).value().size(), 32U);
}

void TestSecrets::readsOnlyBearerFields()
{
    QCOMPARE(bearerToken("Bearer assay_x"), std::optional<std::string_view>("assay_x"));
    QCOMPARE(bearerToken("bEARER assay_x"), std::optional<std::string_view>("assay_x"));
    for (const char* bad : {"", "Bearer", "Bearer ", "Basic assay_x", "assay_x", "Bearer  assay_x", "Bearer assay x",
                            "Bearer assay_x ", "Bearer\tassay_x", "Bearer \x80"})
        QVERIFY2(!bearerToken(bad), bad);
    QVERIFY(!bearerToken("Bearer " + std::string(257, 'a')));
}

void TestSecrets::sealedTextOpensWithItsKeyOnly()
{
    const Digest key = Digest::ofBytes("key");
    for (const std::string& text : {std::string(), std::string("assay_secret"), std::string(100'000, '\0')}) {
        const auto sealed = sealText(key, text);
        ASSAY_OK(sealed);
        QCOMPARE(openSealedText(key, *sealed).value(), text);
        ASSAY_FAILS(openSealedText(Digest::ofBytes("other"), *sealed), ErrorCode::InvalidArgument);
        QVERIFY(text.empty() || !sealed->contains(text));
    }
    QVERIFY(sealText(key, "x").value() != sealText(key, "x").value());
}

void TestSecrets::noticesEveryChangedBit()
{
    const Digest key = Digest::ofBytes("key");
    const std::string bytes = fromBase64(sealText(key, "secret").value()).value();
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        std::string changed = bytes;
        changed[i] = static_cast<char>(changed[i] ^ 1);
        ASSAY_FAILS(openSealedText(key, toBase64(changed)), ErrorCode::InvalidArgument);
        ASSAY_FAILS(openSealedText(key, toBase64(bytes.substr(0, i))), ErrorCode::InvalidArgument);
    }
    ASSAY_FAILS(openSealedText(key, "not base64"), ErrorCode::InvalidArgument);
}

QTEST_APPLESS_MAIN(TestSecrets)
#include "tst_secrets.moc"
