// SPDX-License-Identifier: Apache-2.0
#include "server/core/text.h"
#include "tests/unit/registry/archive_fixture.h"

#include <random>

using namespace assay;
using namespace assay::registry;
using test::kDemoSkill;
using test::readBytes;
using test::tarEnd;
using test::tarEntry;

/// Valid input with a few bytes changed, thousands of times with a fixed seed: never a crash or a hang, always a
/// verdict, and never a file from outside the input's limits. Most useful under the sanitizers.
class TestPackageFuzz : public QObject
{
    Q_OBJECT

private slots:
    void archivesAlwaysGetAVerdict_data();
    void archivesAlwaysGetAVerdict();
    void frontmatterAlwaysGetsAVerdict();
    void pathsAlwaysGetAVerdict();
    void canonicalStreamsAlwaysGetAVerdict();
};

namespace {

using Random = std::mt19937;

constexpr unsigned kSeed = 20261130;

std::size_t below(Random& random, std::size_t limit) { return limit == 0 ? 0 : random() % limit; }

/// Changes, removes, doubles or moves a few bytes; sometimes writes a number that a length field would not like.
std::string mutated(std::string bytes, Random& random)
{
    for (std::size_t changes = 1 + below(random, 4); changes > 0 && !bytes.empty(); --changes) {
        const std::size_t at = below(random, bytes.size());
        const std::size_t length = std::min(1 + below(random, 40), bytes.size() - at);
        switch (below(random, 6)) {
        case 0:
            bytes[at] = static_cast<char>(random());
            break;
        case 1:
            bytes[at] ^= static_cast<char>(1U << below(random, 8));
            break;
        case 2:
            bytes.erase(at, length);
            break;
        case 3:
            bytes.insert(at, bytes.substr(below(random, bytes.size()), length));
            break;
        case 4:
            bytes.replace(at, std::min<std::size_t>(4, bytes.size() - at),
                          std::string(std::min<std::size_t>(4, bytes.size() - at), '\xff'));
            break;
        default:
            bytes.resize(at);
            break;
        }
    }
    return bytes;
}

/// A tar header's sum is put right again, so that mutations get past it.
std::string withRightSums(std::string tar)
{
    for (std::size_t block = 0; block + 512 <= tar.size(); block += 512) {
        if (tar.compare(block + 257, 5, "ustar") != 0)
            continue;
        tar.replace(block + 148, 8, "        ");
        unsigned sum = 0;
        for (std::size_t i = 0; i < 512; ++i)
            sum += static_cast<unsigned char>(tar[block + i]);
        tar.replace(block + 148, 7, QByteArray::number(sum, 8).rightJustified(6, '0').toStdString() + '\0');
    }
    return tar;
}

const std::map<std::string, std::string>& content()
{
    static const std::map<std::string, std::string> files{{"SKILL.md", kDemoSkill},
                                                          {"a/\u00e9.txt", std::string(900, 'x')},
                                                          {"b.sh", "#!/bin/sh\n"},
                                                          {"c.bin", std::string("\0\1\2", 3)}};
    return files;
}

std::string tarSample()
{
    return tarEntry("d/", "", {.type = '5'}) +
           tarEntry("x", test::paxRecord("path", "d/long") + test::paxRecord("mtime", "1.5"), {.type = 'x'}) +
           tarEntry("d/l", "content") + tarEntry("././@LongLink", std::string(200, 'n'), {.type = 'L'}) +
           tarEntry("n", "y") + tarEntry("d/SKILL.md", kDemoSkill) + tarEnd();
}

/// A verdict is a package whose views lie in its own bytes, or an error that a user can act on.
void checkVerdict(Result<PackageSource> source)
{
    if (!source) {
        QVERIFY2(source.error().code == ErrorCode::InvalidPackage, test::explain(source).constData());
        QVERIFY(!source.error().problems.empty() && !source.error().message.empty());
        return;
    }
    const auto package = validatePackage(std::move(*source), "demo", {});
    if (!package) {
        QVERIFY(package.error().code == ErrorCode::InvalidPackage && !package.error().problems.empty());
        for (const Problem& problem : package.error().problems)
            QVERIFY(!problem.code.empty() && isUtf8(problem.path));
        return;
    }
    std::uint64_t total = 0;
    for (const PackageFile& file : package->files)
        total += file.content.size();
    QCOMPARE(total, package->sizeBytes);
}

} // namespace

void TestPackageFuzz::archivesAlwaysGetAVerdict_data()
{
    QTest::addColumn<int>("kind");
    QTest::addColumn<QByteArray>("sample");
    QTest::addColumn<int>("rounds");
    const auto files = test::packageFiles(content(), {"b.sh"});
    const auto row = [](const char* name, ArchiveKind kind, const std::string& bytes, int rounds) {
        QTest::newRow(name) << static_cast<int>(kind) << QByteArray::fromStdString(bytes) << rounds;
    };
    row("zip", ArchiveKind::Zip, writeArchive(files, "demo", ArchiveKind::Zip).value(), 4000);
    row("tar", ArchiveKind::Tar, tarSample(), 4000);
    row("tar.gz", ArchiveKind::TarGz, writeArchive(files, "demo", ArchiveKind::TarGz).value(), 2000);
    row("gzip around a mutated tar", ArchiveKind::TarGz, tarSample(), 2000);
}

void TestPackageFuzz::archivesAlwaysGetAVerdict()
{
    QFETCH(int, kind);
    QFETCH(QByteArray, sample);
    QFETCH(int, rounds);
    const auto archiveKind = static_cast<ArchiveKind>(kind);
    const bool isTar = sample.mid(257, 5) == "ustar";
    Random random(kSeed);
    for (int round = 0; round < rounds; ++round) {
        std::string bytes = mutated(sample.toStdString(), random);
        if (isTar && round % 4 != 0)
            bytes = withRightSums(std::move(bytes));
        if (isTar && archiveKind == ArchiveKind::TarGz)
            bytes = test::gzipped(std::move(bytes));
        checkVerdict(readBytes(bytes, archiveKind));
        if (QTest::currentTestFailed()) {
            qWarning("round %d of seed %u", round, kSeed);
            return;
        }
    }
}

void TestPackageFuzz::frontmatterAlwaysGetsAVerdict()
{
    const std::string sample =
        "---\nname: &n demo\ndescription: \"It \\ud83d\\ude00 works\"\nallowed-tools: [Bash(a b), 'Read']\n"
        "metadata:\n  assay.network: |\n    a.example\n  deep: {a: [1, {b: *n}], ? c : !t d}\nx: >-\n  folded\n  "
        "text\n---\n# Body\n";
    Random random(kSeed);
    for (int round = 0; round < 20000; ++round) {
        const std::string text = mutated(sample, random);
        const test::CpuTimer timer;
        checkVerdict(test::sourceOf({{"SKILL.md", text}}));
        QVERIFY2(timer.elapsedMs() < 1000, text.c_str());
        if (QTest::currentTestFailed())
            return;
    }
}

void TestPackageFuzz::pathsAlwaysGetAVerdict()
{
    Random random(kSeed);
    for (int round = 0; round < 20000; ++round) {
        const std::string path = mutated("folder/re\u0301sume\u0301.tar.gz/\U0001F600 x", random);
        checkVerdict(test::sourceOf({{"SKILL.md", kDemoSkill}, {path, "x"}}));
        if (QTest::currentTestFailed())
            return;
    }
}

void TestPackageFuzz::canonicalStreamsAlwaysGetAVerdict()
{
    std::string stream;
    const auto package = validatePackage(test::sourceOf(content()), "demo", {});
    ASSAY_OK(package);
    for (const std::string_view piece : package->canonicalPieces())
        stream += piece;
    Random random(kSeed);
    for (int round = 0; round < 20000; ++round) {
        const std::string bytes = mutated(stream, random);
        const auto files = parseCanonicalStream(bytes, FileFacts::Skip);
        if (!files)
            QVERIFY(files.error().code == ErrorCode::Internal);
        else
            QVERIFY(std::ranges::is_sorted(*files, {}, &PackageFile::path));
    }
}

QTEST_APPLESS_MAIN(TestPackageFuzz)
#include "tst_package_fuzz.moc"
