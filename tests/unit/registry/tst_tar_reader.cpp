// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/registry/archive_fixture.h"

using namespace assay;
using namespace assay::registry;
using test::codesOf;
using test::gzipped;
using test::joined;
using test::kDemoSkill;
using test::outcome;
using test::paxRecord;
using test::readBytes;
using test::tarEnd;
using test::tarEntry;

class TestTarReader : public QObject
{
    Q_OBJECT

private slots:
    void readsFilesModesAndContent();
    void takesOffOneTopFolder();
    void keepsPathsWhenTheTopFolderIsUnsafe();
    void listsIgnoredEntries();
    void readsLongAndForeignNames();
    void refusesLinksAndDevices_data();
    void refusesLinksAndDevices();
    void refusesSparseFiles();
    void refusesDamagedTars_data();
    void refusesDamagedTars();
    void refusesDamagedGzips_data();
    void refusesDamagedGzips();
    void appliesLimitsWhileReading();
    void stopsABomb();
    void boundsEntriesThatAreIgnored();
    void refusesUnsafeAndConflictingFolders();
    void leavesDuplicatesToTheRules();
};

namespace {

Result<PackageSource> readTarBytes(const std::string& bytes, const PackageLimits& limits = {})
{
    return readBytes(bytes, ArchiveKind::Tar, limits);
}

const std::string kOne = tarEntry("SKILL.md", kDemoSkill);

} // namespace

void TestTarReader::readsFilesModesAndContent()
{
    const auto source =
        readTarBytes(tarEntry("./", "", {.type = '5', .mode = 0755}) + tarEntry("./SKILL.md", kDemoSkill) +
                     tarEntry("run", "#!/bin/sh\n", {.mode = 0744}) + tarEntry("group", "", {.mode = 0674}) + tarEnd());
    ASSAY_OK(source);
    QCOMPARE(outcome(source), "SKILL.md, run*, group");
    QCOMPARE(source->files()[0].content, kDemoSkill);
    QCOMPARE(source->files()[2].content, "");
    QVERIFY(source->topFolder.empty());
    ASSAY_OK(validatePackage(std::move(*readTarBytes(kOne + tarEnd())), "demo", {}));
}

void TestTarReader::takesOffOneTopFolder()
{
    const auto source = readTarBytes(tarEntry("pax_global_header", paxRecord("comment", "abc"), {.type = 'g'}) +
                                     tarEntry("demo-1/", "", {.type = '5'}) + tarEntry("demo-1/SKILL.md", kDemoSkill) +
                                     tarEntry("demo-1/a/b", "x") + tarEntry("demo-1/.DS_Store", "x") + tarEnd());
    ASSAY_OK(source);
    QCOMPARE(outcome(source), "SKILL.md, a/b");
    QCOMPARE(source->topFolder, "demo-1");
    QCOMPARE(joined(source->ignored), ".DS_Store");
    QCOMPARE(outcome(readTarBytes(tarEntry("a/b", "x") + tarEntry("ab/c", "x") + tarEnd())), "a/b, ab/c");
    QCOMPARE(outcome(readTarBytes(tarEntry("a/b", "x") + tarEntry("c/", "", {.type = '5'}) + tarEnd())), "a/b");
    QCOMPARE(outcome(readTarBytes(tarEntry("a", "x") + tarEntry("a2/b", "x") + tarEnd())), "a, a2/b");
}

void TestTarReader::keepsPathsWhenTheTopFolderIsUnsafe()
{
    for (const char* name :
         {"../SKILL.md", "/SKILL.md", "././SKILL.md", "C:/SKILL.md", ".assay/SKILL.md", "con/SKILL.md"}) {
        auto source = readTarBytes(tarEntry(name, kDemoSkill) + tarEnd());
        ASSAY_OK(source);
        const auto package = validatePackage(std::move(*source), "demo", {});
        QVERIFY2(!package, name);
        QVERIFY2(joined(codesOf(package)).contains("_path"), name);
    }
}

void TestTarReader::listsIgnoredEntries()
{
    const auto source = readTarBytes(tarEntry("__MACOSX/._SKILL.md", "x") + kOne + tarEntry("._SKILL.md", "x") +
                                     tarEntry("a/.DS_Store", "x") + tarEntry(".git/config", "x") +
                                     tarEntry(".git/link", "", {.type = '2', .link = "/etc/passwd"}) +
                                     tarEntry(".gitignore", "x") + tarEnd());
    ASSAY_OK(source);
    QCOMPARE(outcome(source), "SKILL.md, .gitignore");
    QCOMPARE(joined(source->ignored), "__MACOSX/._SKILL.md, ._SKILL.md, a/.DS_Store, .git/config, .git/link");
    auto unsafe = readTarBytes(kOne + tarEntry("../.DS_Store", "x") + tarEnd());
    ASSAY_OK(unsafe);
    QCOMPARE(joined(codesOf(validatePackage(std::move(*unsafe), "demo", {}))), "unsafe_path");
}

void TestTarReader::readsLongAndForeignNames()
{
    const std::string longName = std::string(120, 'd') + '/' + std::string(120, 'f');
    QCOMPARE(outcome(readTarBytes(tarEntry("././@LongLink", longName + '\0', {.type = 'L'}) + tarEntry(longName, "x") +
                                  kOne + tarEnd())),
             QByteArray::fromStdString(longName + ", SKILL.md"));
    QCOMPARE(outcome(readTarBytes(tarEntry("x", paxRecord("path", longName), {.type = 'x'}) + tarEntry("short", "x") +
                                  kOne + tarEnd())),
             QByteArray::fromStdString(longName + ", SKILL.md"));
    QCOMPARE(outcome(readTarBytes(tarEntry("x", paxRecord("path", "\u65e5.md"), {.type = 'x'}) +
                                  tarEntry("short", "x") + kOne + tarEnd())),
             "\u65e5.md, SKILL.md");
    auto latin = readTarBytes(kOne + tarEntry("caf\xe9", "x") + tarEnd());
    ASSAY_OK(latin);
    QCOMPARE(joined(codesOf(validatePackage(std::move(*latin), "demo", {}))), "unsafe_path");
    auto paxLatin =
        readTarBytes(kOne + tarEntry("x", paxRecord("path", "caf\xe9"), {.type = 'x'}) + tarEntry("s", "x") + tarEnd());
    QVERIFY(!paxLatin || !validatePackage(std::move(*paxLatin), "demo", {}));
}

void TestTarReader::refusesLinksAndDevices_data()
{
    QTest::addColumn<char>("type");
    for (const char type : {'1', '2', '3', '4', '6', 'V', 'M', 'D', 'Z', 'A'})
        QTest::newRow(QByteArray(1, type).constData()) << type;
}

void TestTarReader::refusesLinksAndDevices()
{
    QFETCH(char, type);
    const auto source = readTarBytes(kOne + tarEntry("bad/entry", "", {.type = type, .link = "SKILL.md"}) + tarEnd());
    QCOMPARE(outcome(source), "link_not_allowed");
    QCOMPARE(source.error().problems.front().path, "bad/entry");
}

void TestTarReader::refusesSparseFiles()
{
    QCOMPARE(outcome(readTarBytes(kOne + tarEntry("s", "x", {.type = 'S'}) + tarEnd())), "link_not_allowed");
    for (const char* key : {"GNU.sparse.major", "GNU.sparse.map", "SUN.holesdata"})
        QCOMPARE(outcome(readTarBytes(kOne + tarEntry("x", paxRecord(key, "1"), {.type = 'x'}) +
                                      tarEntry("s", "1\n0\n1\n") + tarEnd())),
                 "link_not_allowed");
    QCOMPARE(outcome(readTarBytes(kOne + tarEntry("hard", "data", {.type = '1', .link = "SKILL.md"}) + tarEnd())),
             "link_not_allowed");
}

void TestTarReader::refusesDamagedTars_data()
{
    QTest::addColumn<QByteArray>("bytes");
    const auto row = [](const char* name, const std::string& bytes) {
        QTest::newRow(name) << QByteArray::fromStdString(bytes);
    };
    std::string badSum = kOne;
    badSum[151] ^= 1;
    row("empty", "");
    row("no tar at all", std::string(2048, 'x'));
    row("no end mark", kOne);
    row("half an end mark", kOne + std::string(512, '\0'));
    row("an entry behind one zero block", kOne + std::string(512, '\0') + tarEntry("b", "x") + tarEnd());
    row("truncated content", kOne.substr(0, 520));
    row("truncated header", kOne + kOne.substr(0, 300));
    row("bytes behind the end", kOne + tarEnd() + "x");
    row("an entry behind the end", kOne + tarEnd() + tarEntry("b", "x") + tarEnd());
    row("wrong checksum", badSum + tarEnd());
    row("size is no number", tarEntry("a", "x", {.sizeField = "00000000x01"}) + tarEnd());
    row("negative size", tarEntry("a", "", {.sizeField = std::string(12, '\xff')}) + tarEnd());
    row("two sizes", tarEntry("x", paxRecord("size", "1"), {.type = 'x'}) + tarEntry("a", "xx") + tarEnd());
    row("pax size is no number", tarEntry("x", paxRecord("size", "1k"), {.type = 'x'}) + tarEntry("a", "x") + tarEnd());
    row("folder with content", tarEntry("a/", "x", {.type = '5'}) + tarEnd());
    row("malformed pax", tarEntry("x", "99 path=a\n", {.type = 'x'}) + tarEntry("a", "x") + tarEnd());
    row("pax without equals", tarEntry("x", "8 path\n\n\n", {.type = 'x'}) + tarEntry("a", "x") + tarEnd());
    row("NUL in a pax name", tarEntry("x", paxRecord("path", std::string("SKILL.md\0.exe", 13)), {.type = 'x'}) +
                                 tarEntry("a", "x") + tarEnd());
    row("global name", tarEntry("g", paxRecord("path", "a"), {.type = 'g'}) + kOne + tarEnd());
    row("huge extension", tarEntry("x", std::string(2 << 20, ' '), {.type = 'x'}) + kOne + tarEnd());
}

void TestTarReader::refusesDamagedTars()
{
    QFETCH(QByteArray, bytes);
    QCOMPARE(outcome(readTarBytes(bytes.toStdString())), "corrupt_archive");
    QCOMPARE(outcome(readBytes(gzipped(bytes.toStdString()), ArchiveKind::TarGz)), "corrupt_archive");
}

void TestTarReader::refusesDamagedGzips_data()
{
    QTest::addColumn<QByteArray>("bytes");
    const auto row = [](const char* name, const std::string& bytes) {
        QTest::newRow(name) << QByteArray::fromStdString(bytes);
    };
    const std::string good = gzipped(kOne + tarEnd());
    std::string badCrc = good;
    badCrc[badCrc.size() - 8] ^= 1;
    std::string badLength = good;
    badLength[badLength.size() - 1] ^= 1;
    row("empty", "");
    row("not gzip", kOne + tarEnd());
    row("truncated", good.substr(0, good.size() / 2));
    row("without trailer", good.substr(0, good.size() - 8));
    row("half a trailer", good.substr(0, good.size() - 1));
    row("second member", good + good);
    row("tar over two members", gzipped(kOne) + gzipped(tarEnd()));
    row("bytes behind the end", good + std::string(1, '\0'));
    row("wrong checksum", badCrc);
    row("wrong length", badLength);
}

void TestTarReader::refusesDamagedGzips()
{
    QFETCH(QByteArray, bytes);
    QCOMPARE(outcome(readBytes(bytes.toStdString(), ArchiveKind::TarGz)), "corrupt_archive");
    QCOMPARE(outcome(readBytes(gzipped(kOne + tarEnd() + std::string(8192, '\0')), ArchiveKind::TarGz)), "SKILL.md");
}

void TestTarReader::appliesLimitsWhileReading()
{
    PackageLimits limits;
    limits.fileBytes = 1000;
    limits.packageBytes = 2500;
    limits.files = 4;
    const std::string kilo(1000, 'a');
    const auto large = readTarBytes(kOne + tarEntry("a", kilo + "x") + tarEntry("b", kilo + "y") + tarEnd(), limits);
    QCOMPARE(outcome(large), "file_too_large, file_too_large");
    QVERIFY(large.error().message.contains("1001") && large.error().message.contains("1000 bytes a file"));
    QCOMPARE(outcome(readTarBytes(tarEntry("a", kilo) + tarEntry("b", kilo) + tarEntry("c", kilo) + tarEnd(), limits)),
             "package_too_large");
    std::string many;
    for (int i = 0; i < 5; ++i)
        many += tarEntry("f" + std::to_string(i), "");
    QCOMPARE(outcome(readTarBytes(many + tarEnd(), limits)), "too_many_files");
    QCOMPARE(outcome(readTarBytes(tarEntry("huge", "", {.sizeField = "77777777777"}) + tarEnd(), limits)),
             "corrupt_archive");
}

void TestTarReader::stopsABomb()
{
    const std::string bomb = gzipped(kOne + tarEntry("zeros", std::string(4 << 20, '\0')) + tarEnd());
    const auto result = readBytes(bomb, ArchiveKind::TarGz);
    QCOMPARE(outcome(result), "archive_ratio");
    QVERIFY(result.error().message.contains("100 to 1"));
    QCOMPARE(outcome(readBytes(gzipped(kOne + tarEntry("zeros", std::string(1 << 19, '\0')) + tarEnd()),
                               ArchiveKind::TarGz)),
             "SKILL.md, zeros");
    std::string many;
    for (int i = 0; i < 1900; ++i)
        many += tarEntry("f" + std::to_string(i), "x");
    ASSAY_OK(readBytes(gzipped(many + tarEnd()), ArchiveKind::TarGz)); // headers pack well and are no bomb
    QCOMPARE(outcome(readBytes(gzipped(kOne + tarEnd() + std::string(200 << 20, '\0')), ArchiveKind::TarGz)),
             "package_too_large");
}

void TestTarReader::boundsEntriesThatAreIgnored()
{
    PackageLimits limits;
    limits.files = 1;
    limits.packageBytes = 1 << 20;
    limits.fileBytes = 1 << 20;
    std::string many = kOne;
    for (int i = 0; i < 1100; ++i)
        many += tarEntry(".git/" + std::to_string(i), "x");
    QCOMPARE(outcome(readTarBytes(many + tarEnd(), limits)), "too_many_files");
    QCOMPARE(outcome(readBytes(gzipped(kOne + tarEntry(".git/pack", std::string(40 << 20, 'x')) + tarEnd()),
                               ArchiveKind::TarGz, limits)),
             "package_too_large");
    many = kOne;
    for (int i = 0; i < 1005; ++i)
        many += tarEntry(".git/" + std::to_string(i), "");
    const auto listed = readTarBytes(many + tarEnd(), limits);
    ASSAY_OK(listed);
    QCOMPARE(listed->ignored.size(), 1001U);
    QCOMPARE(listed->ignored.back(), "... and more");
}

void TestTarReader::refusesUnsafeAndConflictingFolders()
{
    QCOMPARE(outcome(readTarBytes(kOne + tarEntry("../up/", "", {.type = '5'}) + tarEnd())), "unsafe_path");
    QCOMPARE(outcome(readTarBytes(kOne + tarEntry("/abs/", "", {.type = '5'}) + tarEnd())), "unsafe_path");
    QCOMPARE(outcome(readTarBytes(kOne + tarEntry("a", "x") + tarEntry("A/b/", "", {.type = '5'}) + tarEnd())),
             "path_conflict");
}

void TestTarReader::leavesDuplicatesToTheRules()
{
    auto source = readTarBytes(kOne + tarEntry("a", "1") + tarEntry("./a", "2") + tarEnd());
    ASSAY_OK(source);
    QCOMPARE(joined(codesOf(validatePackage(std::move(*source), "demo", {}))), "duplicate_path");
}

QTEST_APPLESS_MAIN(TestTarReader)
#include "tst_tar_reader.moc"
