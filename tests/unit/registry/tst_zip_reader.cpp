// SPDX-License-Identifier: Apache-2.0
#include "server/registry/zip_records.h"
#include "tests/unit/registry/archive_fixture.h"

using namespace assay;
using namespace assay::registry;
using test::codesOf;
using test::joined;
using test::kDemoSkill;
using test::outcome;
using test::readBytes;

class TestZipReader : public QObject
{
    Q_OBJECT

private slots:
    void readsFilesModesAndContent();
    void readsDescriptorsAndWideRecords();
    void readsUnicodeNames();
    void takesOffOneTopFolder();
    void refusesLinksAndDevices();
    void refusesDamagedZips_data();
    void refusesDamagedZips();
    void refusesEncryptionAndOtherMethods();
    void refusesHeadersThatContradict_data();
    void refusesHeadersThatContradict();
    void appliesLimitsWhileReading();
    void stopsABomb();
};

namespace {

/// One entry whose fields a test may bend; local and central values are set apart.
struct Member
{
    std::string name;
    std::string content;
    std::uint32_t mode = 0100644;
    std::uint16_t flags = 0;
    std::uint16_t method = 0;
    bool descriptor = false;
    std::string localExtra;
    std::string extra;
    std::string localName;
};

std::string number(std::uint64_t value, int size)
{
    std::string out;
    for (int i = 0; i < size; ++i)
        out += static_cast<char>((value >> (8 * i)) & 0xFF);
    return out;
}

std::uint64_t crcOf(const std::string& bytes)
{
    return crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size()));
}

struct Zip
{
    std::string local;
    std::string directory;
    std::size_t count = 0;

    Zip& add(const Member& m)
    {
        const std::uint64_t flags = m.flags | (m.descriptor ? kZipHasDescriptor : 0U);
        const std::string sums =
            number(crcOf(m.content), 4) + number(m.content.size(), 4) + number(m.content.size(), 4);
        const std::string common = number(20, 2) + number(flags, 2) + number(m.method, 2) + number(0x00210000, 4);
        const std::string& localName = m.localName.empty() ? m.name : m.localName;
        const std::size_t offset = local.size();
        local += number(kZipLocalHeader, 4) + common + (m.descriptor ? std::string(12, '\0') : sums) +
                 number(localName.size(), 2) + number(m.localExtra.size(), 2) + localName + m.localExtra + m.content;
        if (m.descriptor)
            local += number(kZipDescriptor, 4) + sums;
        directory += number(kZipDirectoryEntry, 4) + number(0x031E, 2) + common + sums + number(m.name.size(), 2) +
                     number(m.extra.size(), 2) + number(0, 6) + number(std::uint64_t(m.mode) << 16, 4) +
                     number(offset, 4) + m.name + m.extra;
        ++count;
        return *this;
    }
    std::string end(const std::string& comment = {}) const
    {
        return number(kZipEnd, 4) + number(0, 4) + number(count, 2) + number(count, 2) + number(directory.size(), 4) +
               number(local.size(), 4) + number(comment.size(), 2) + comment;
    }
    std::string bytes() const { return local + directory + end(); }
};

Result<PackageSource> readZipBytes(const std::string& bytes, const PackageLimits& limits = {})
{
    return readBytes(bytes, ArchiveKind::Zip, limits);
}

Zip demo() { return Zip().add({.name = "SKILL.md", .content = kDemoSkill}).add({.name = "b", .content = "12345"}); }

} // namespace

void TestZipReader::readsFilesModesAndContent()
{
    const auto source = readZipBytes(
        demo().add({.name = "d/", .mode = 040755}).add({.name = "d/run", .content = "x", .mode = 0100755}).bytes());
    ASSAY_OK(source);
    QCOMPARE(outcome(source), "SKILL.md, b, d/run*");
    QCOMPARE(source->files()[0].content, kDemoSkill);
    const Zip zip = demo();
    QCOMPARE(outcome(readZipBytes(zip.local + zip.directory + zip.end("a comment"))), "SKILL.md, b");
    QCOMPARE(outcome(readZipBytes(Zip().bytes())), "");
}

void TestZipReader::readsDescriptorsAndWideRecords()
{
    QCOMPARE(outcome(readZipBytes(demo()
                                      .add({.name = "s", .content = "stream", .descriptor = true})
                                      .add({.name = "t", .content = ""})
                                      .bytes())),
             "SKILL.md, b, s, t");
    const Zip zip = demo();
    const std::string wide = number(kZip64End, 4) + number(44, 8) + number(45, 2) + number(45, 2) + number(0, 8) +
                             number(zip.count, 8) + number(zip.count, 8) + number(zip.directory.size(), 8) +
                             number(zip.local.size(), 8);
    const std::string locator =
        number(kZip64Locator, 4) + number(0, 4) + number(zip.local.size() + zip.directory.size(), 8) + number(1, 4);
    std::string marked = zip.end();
    marked.replace(8, 12, std::string(12, '\xff'));
    QCOMPARE(outcome(readZipBytes(zip.local + zip.directory + wide + locator + marked)), "SKILL.md, b");
    QCOMPARE(outcome(readZipBytes(zip.local + zip.directory + wide + locator + zip.end())), "SKILL.md, b");
    std::string lying = wide;
    lying[24] = 7;
    QCOMPARE(outcome(readZipBytes(zip.local + zip.directory + lying + locator + zip.end())), "corrupt_archive");
    QCOMPARE(outcome(readZipBytes(zip.local + zip.directory + marked)), "corrupt_archive");
}

void TestZipReader::readsUnicodeNames()
{
    QCOMPARE(outcome(readZipBytes(demo().add({.name = "\u65e5.md", .flags = kZipUtf8Name}).bytes())),
             "SKILL.md, b, \u65e5.md");
    QCOMPARE(outcome(readZipBytes(demo().add({.name = "\u65e5.md"}).bytes())), "SKILL.md, b, \u65e5.md");
    const std::string old = "caf\x82";
    const std::string field = number(0x7075, 2) + number(5 + 5, 2) + '\1' + number(crcOf(old), 4) + "caf\u00e9";
    QCOMPARE(outcome(readZipBytes(demo().add({.name = old, .extra = field}).bytes())), "SKILL.md, b, caf\u00e9");
    auto source = readZipBytes(demo().add({.name = old}).bytes());
    ASSAY_OK(source);
    QCOMPARE(joined(codesOf(validatePackage(std::move(*source), "demo", {}))), "unsafe_path");
}

void TestZipReader::takesOffOneTopFolder()
{
    const auto source = readZipBytes(Zip()
                                         .add({.name = "demo/", .mode = 040755})
                                         .add({.name = "demo/SKILL.md", .content = kDemoSkill})
                                         .add({.name = "__MACOSX/demo/._SKILL.md", .content = "x"})
                                         .bytes());
    ASSAY_OK(source);
    QCOMPARE(outcome(source), "SKILL.md");
    QCOMPARE(source->topFolder, "demo");
    QCOMPARE(joined(source->ignored), "__MACOSX/demo/._SKILL.md");
}

void TestZipReader::refusesLinksAndDevices()
{
    for (const std::uint32_t mode : {0120777U, 020644U, 060644U, 010644U, 0140644U}) {
        const auto source = readZipBytes(
            demo().add({.name = "l", .content = "/etc/passwd", .mode = mode}).add({.name = "m", .mode = mode}).bytes());
        QCOMPARE(outcome(source), "link_not_allowed, link_not_allowed");
        QCOMPARE(source.error().problems.front().path, "l");
    }
}

void TestZipReader::refusesDamagedZips_data()
{
    QTest::addColumn<QByteArray>("bytes");
    const auto row = [](const char* name, const std::string& bytes) {
        QTest::newRow(name) << QByteArray::fromStdString(bytes);
    };
    const Zip zip = demo();
    const std::string good = zip.bytes();
    row("empty", "");
    row("no zip at all", std::string(2048, 'x'));
    row("truncated", good.substr(0, good.size() - 30));
    row("without end record", zip.local + zip.directory);
    row("bytes before", "x" + good);
    Zip shifted;
    shifted.local = "MZ stub";
    row("bytes before, with true offsets", shifted.add({.name = "SKILL.md", .content = kDemoSkill}).bytes());
    row("bytes behind", good + "x");
    row("zip behind a zip", good + good);
    row("bytes between", zip.local + "gap" + zip.directory + zip.end());
    Zip hidden = demo();
    hidden.local += Zip().add({.name = "hidden", .content = "x"}).local;
    row("entry that the directory hides", hidden.bytes());
    Zip twice = demo();
    twice.directory += twice.directory;
    twice.count *= 2;
    row("entries twice", twice.bytes());
    Zip fewer = demo();
    fewer.count = 1;
    row("wrong count", fewer.bytes());
    std::string badCrc = good;
    badCrc[zip.local.size() - 1] ^= 1;
    row("wrong checksum", badCrc);
    std::string disk = good;
    disk[good.size() - 18] = 1;
    row("several disks", disk);
    row("folder with content", demo().add({.name = "d/", .content = "x", .mode = 040755}).bytes());
}

void TestZipReader::refusesDamagedZips()
{
    QFETCH(QByteArray, bytes);
    QCOMPARE(outcome(readZipBytes(bytes.toStdString())), "corrupt_archive");
}

void TestZipReader::refusesEncryptionAndOtherMethods()
{
    const auto encrypted =
        readZipBytes(demo().add({.name = "e", .content = "xxxxxxxxxxxxx", .flags = kZipEncrypted}).bytes());
    QCOMPARE(outcome(encrypted), "corrupt_archive");
    QVERIFY(encrypted.error().message.contains("encrypted"));
    const auto bzip = readZipBytes(demo().add({.name = "e", .content = "x", .method = 12}).bytes());
    QCOMPARE(outcome(bzip), "corrupt_archive");
    QVERIFY(bzip.error().message.contains("method 12"));
}

void TestZipReader::refusesHeadersThatContradict_data()
{
    QTest::addColumn<int>("offset");
    QTest::newRow("flags") << 7;
    QTest::newRow("method") << 8;
    QTest::newRow("checksum") << 14;
    QTest::newRow("compressed size") << 18;
    QTest::newRow("size") << 22;
    QTest::newRow("name's length") << 26;
    QTest::newRow("extra's length") << 28;
    QTest::newRow("name") << 30;
}

void TestZipReader::refusesHeadersThatContradict()
{
    QFETCH(int, offset);
    std::string bytes = demo().bytes();
    bytes[static_cast<std::size_t>(offset)] ^= 8;
    QCOMPARE(outcome(readZipBytes(bytes)), "corrupt_archive");
    QCOMPARE(outcome(readZipBytes(demo().add({.name = "a", .content = "x", .localName = "b"}).bytes())),
             "corrupt_archive");
}

void TestZipReader::appliesLimitsWhileReading()
{
    PackageLimits limits;
    limits.fileBytes = 100;
    limits.packageBytes = 250;
    limits.files = 3;
    const std::string large(101, 'a');
    const std::string fits(100, 'a');
    QCOMPARE(outcome(readZipBytes(
                 Zip().add({.name = "a", .content = large}).add({.name = "b", .content = large}).bytes(), limits)),
             "file_too_large, file_too_large");
    Zip zip;
    for (const char* name : {"a", "b", "c"})
        zip.add({.name = name, .content = fits});
    QCOMPARE(outcome(readZipBytes(zip.bytes(), limits)), "package_too_large");
    Zip many;
    for (const char* name : {"a", "b", "c", "d"})
        many.add({.name = name});
    QCOMPARE(outcome(readZipBytes(many.bytes(), limits)), "too_many_files");
}

void TestZipReader::stopsABomb()
{
    const std::map<std::string, std::string> content{{"SKILL.md", kDemoSkill}, {"zeros", std::string(4 << 20, '\0')}};
    const auto zip = writeArchive(test::packageFiles(content), "", ArchiveKind::Zip);
    ASSAY_OK(zip);
    QCOMPARE(outcome(readZipBytes(*zip)), "archive_ratio");
}

QTEST_APPLESS_MAIN(TestZipReader)
#include "tst_zip_reader.moc"
