// SPDX-License-Identifier: Apache-2.0
#include "server/core/base64.h"
#include "server/core/digest.h"
#include "server/core/file_io.h"
#include "server/core/ids.h"
#include "server/core/text.h"
#include "tests/support/test_support.h"

#include <QTemporaryDir>

#include <set>

using namespace assay;

class TestCore : public QObject
{
    Q_OBJECT

private slots:
    void hashesKnownBytes();
    void readsOnlyCanonicalDigests();
    void base64IsStrict();
    void idsAreUniqueAndSorted();
    void timesRoundTrip();
    void refusesMalformedTimes();
    void foldsPathsThatCollide();
    void findsInvalidUtf8();
    void replacesFilesWhole();
    void everyErrorCodeHasTraits();
};

void TestCore::hashesKnownBytes()
{
    QCOMPARE(Digest::ofBytes("abc").text(), "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    Sha256 pieces;
    pieces.update("a").update("").update("bc");
    QCOMPARE(pieces.finish(), Digest::ofBytes("abc"));
    QCOMPARE(pieces.update("abc").finish(), Digest::ofBytes("abc"));
    // RFC 4231, test case 2
    QCOMPARE(hmacSha256("Jefe", "what do ya want for nothing?").hex(),
             "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

void TestCore::readsOnlyCanonicalDigests()
{
    const std::string good = Digest::ofBytes("abc").text();
    QCOMPARE(Digest::parse(good).value().text(), good);
    for (const std::string& bad : {std::string(), good + "0", good.substr(0, 70), "SHA256:" + good.substr(7),
                                   QString::fromStdString(good).replace("ba78", "BA78").toStdString()})
        ASSAY_FAILS(Digest::parse(bad), ErrorCode::InvalidArgument);
}

void TestCore::base64IsStrict()
{
    QCOMPARE(toBase64("foob"), "Zm9vYg==");
    QCOMPARE(fromBase64("Zm9vYg==").value(), "foob");
    QCOMPARE(fromBase64("").value(), "");
    for (const char* bad : {"Zm9vYg=", "Zm9vYg", "Zm9v\nYg==", "Zm9vYh==", "====", "A===", "Zm-v", "Zm9vYg==Zm9v"})
        ASSAY_FAILS(fromBase64(bad), ErrorCode::InvalidArgument);
    QCOMPARE(fromBase64Url(toBase64Url("\xff\xfe\xfd\xfc")).value(), "\xff\xfe\xfd\xfc");
    QCOMPARE(fromBase64Url("YWI=").value(), "ab");
    ASSAY_FAILS(fromBase64Url("YWI=="), ErrorCode::InvalidArgument);
}

void TestCore::idsAreUniqueAndSorted()
{
    const test::FakeClock clock;
    std::vector<std::string> ids;
    for (int i = 0; i < 10000; ++i)
        ids.push_back(newId("run_", clock.now()));
    QVERIFY(std::ranges::is_sorted(ids));
    QCOMPARE(std::set(ids.begin(), ids.end()).size(), ids.size());
    QVERIFY(isId(ids.front(), "run_"));
    QVERIFY(!isId(ids.front(), "rev_"));
    QVERIFY(!isId(ids.front() + "0", "run_"));
    QVERIFY(!isId("run_" + std::string(26, 'U'), "run_"));
}

void TestCore::timesRoundTrip()
{
    for (const char* text : {"2026-11-30T12:00:00.000Z", "1970-01-01T00:00:00.001Z", "2024-02-29T23:59:59.999Z"})
        QCOMPARE(formatTimestamp(parseTimestamp(text).value()), text);
    QCOMPARE(formatTimestamp(parseTimestamp("2026-11-30T12:00:00+02:30").value()), "2026-11-30T09:30:00.000Z");
    QCOMPARE(formatTimestamp(parseTimestamp("2026-11-30t12:00:00.123456789z").value()), "2026-11-30T12:00:00.123Z");
}

void TestCore::refusesMalformedTimes()
{
    for (const char* bad :
         {"", "2026", "2026-02-30T00:00:00Z", "2026-11-30T24:00:00Z", "2026-11-30T12:00:00", "2026-11-30 12:00:00Z",
          "2026-11-30T12:00:00.Z", "2026-11-30T12:00:00Zx", "+026-11-30T12:00:00Z"})
        QVERIFY2(!parseTimestamp(bad), bad);
}

void TestCore::foldsPathsThatCollide()
{
    QCOMPARE(caseFoldKey("Stra\u00dfe.md"), caseFoldKey("STRASSE.MD"));
    QCOMPARE(caseFoldKey("re\u0301sume\u0301"), caseFoldKey("R\u00c9SUM\u00c9"));
    QVERIFY(caseFoldKey("a") != caseFoldKey("b"));
    QCOMPARE(toNfc("re\u0301"), "r\u00e9");
    QCOMPARE(toNfkc("\uff21\ufb01"), "Afi");
}

void TestCore::findsInvalidUtf8()
{
    QVERIFY(isUtf8("plain \u00e9 \U0001F600"));
    QCOMPARE(firstInvalidUtf8("ab\xff"), std::optional<std::size_t>(2));
    for (const char* bad : {"\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82", "\x80"})
        QVERIFY(!isUtf8(bad));
}

void TestCore::replacesFilesWhole()
{
    const QTemporaryDir dir;
    const std::filesystem::path path = dir.filePath("x").toStdString();
    ASSAY_OK(replaceFileDurably(path, "one"));
    ASSAY_OK(replaceFileDurably(path, "two"));
    QCOMPARE(readFile(path, 3).value(), "two");
    ASSAY_FAILS(readFile(path, 2), ErrorCode::TooLarge);
    ASSAY_FAILS(readFile(dir.filePath("y").toStdString(), 2), ErrorCode::NotFound);
    QCOMPARE(QDir(dir.path()).entryList(QDir::Files | QDir::Hidden).size(), 1);
}

void TestCore::everyErrorCodeHasTraits()
{
    for (int value = 0; value <= static_cast<int>(ErrorCode::Timeout); ++value) {
        const ErrorTraits& row = traits(static_cast<ErrorCode>(value));
        QVERIFY(row.httpStatus >= 400 && row.exitStatus >= 1 && row.exitStatus <= 5);
    }
    QCOMPARE(traits(ErrorCode::PreconditionRequired).httpStatus, 428);
    QCOMPARE(traits(ErrorCode::InvalidPackage).exitStatus, 5);
    QCOMPARE(errorCodeNamed("not_found"), std::optional(ErrorCode::NotFound));
}

QTEST_APPLESS_MAIN(TestCore)
#include "tst_core.moc"
