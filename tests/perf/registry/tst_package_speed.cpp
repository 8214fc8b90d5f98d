// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/registry/archive_fixture.h"

#include <random>

using namespace assay;
using namespace assay::registry;
using test::kDemoSkill;

/// Pins the cost of judging the largest packages that the limits allow. The bounds are what was promised (one second),
/// several times what is measured; the numbers are printed.
class TestPackageSpeed : public QObject
{
    Q_OBJECT

private slots:
    void validatesTheLargestPackages_data();
    void validatesTheLargestPackages();
    void readsTheLargestArchives_data() { validatesTheLargestPackages_data(); }
    void readsTheLargestArchives();
    void costIsLinearInFiles();
};

namespace {

using Files = std::map<std::string, std::string>;

std::string prose(std::size_t size, unsigned seed)
{
    std::mt19937 random(seed);
    std::string out;
    while (out.size() < size)
        out += static_cast<char>('a' + random() % 26);
    return out;
}

Files many(int count, std::size_t size)
{
    Files files{{"SKILL.md", kDemoSkill}};
    for (int i = 1; i < count; ++i)
        files.emplace("references/part" + std::to_string(i % 40) + "/page" + std::to_string(i) + ".md",
                      prose(size, static_cast<unsigned>(i)));
    return files;
}

Files largest(std::string fileStart)
{
    Files files{{"SKILL.md", kDemoSkill}};
    for (unsigned i = 0; i < 5; ++i)
        files.emplace("assets/" + std::to_string(i) + ".txt", fileStart + prose((10 << 20) - 64 - fileStart.size(), i));
    return files;
}

double validateMs(const Files& files)
{
    const test::CpuTimer timer;
    const auto package = test::validate(files, "demo");
    const double elapsed = timer.elapsedMs();
    return package ? elapsed : -1;
}

} // namespace

void TestPackageSpeed::validatesTheLargestPackages_data()
{
    QTest::addColumn<int>("shape");
    QTest::newRow("2000 files of 1 kB") << 0;
    QTest::newRow("50 MiB of ASCII") << 1;
    QTest::newRow("50 MiB with other characters") << 2;
}

static Files shaped(int shape)
{
    if (shape == 0)
        return many(2000, 1000);
    std::string start;
    for (int i = 0; shape == 2 && i < 100000; ++i)
        start += "\u65e5\u672c\u8a9e ";
    return largest(start);
}

void TestPackageSpeed::validatesTheLargestPackages()
{
    QFETCH(int, shape);
    const Files files = shaped(shape);
    const double elapsed = validateMs(files);
    qInfo("%.0f ms", elapsed);
    QVERIFY(elapsed >= 0 && elapsed < 1000);
}

void TestPackageSpeed::readsTheLargestArchives()
{
    QFETCH(int, shape);
    const Files files = shaped(shape);
    const auto list = test::packageFiles(files);
    for (const auto& [name, kind] :
         {std::pair("zip", ArchiveKind::Zip), {"tar", ArchiveKind::Tar}, {"tar.gz", ArchiveKind::TarGz}}) {
        const test::CpuTimer timer;
        const auto bytes = writeArchive(list, "demo", kind);
        ASSAY_OK(bytes);
        const double wrote = timer.elapsedMs();
        auto source = test::readBytes(*bytes, kind);
        ASSAY_OK(source);
        const double read = timer.elapsedMs() - wrote;
        ASSAY_OK(validatePackage(std::move(*source), "demo", {}));
        qInfo("%s: written in %.0f ms, read in %.0f ms, validated in %.0f ms", name, wrote, read,
              timer.elapsedMs() - wrote - read);
        QVERIFY(read < 3000);
    }
}

void TestPackageSpeed::costIsLinearInFiles()
{
    PackageLimits limits;
    limits.files = 100000;
    std::vector<double> times;
    for (const int count : {4000, 16000}) {
        const auto source = many(count, 10);
        const test::CpuTimer timer;
        ASSAY_OK(test::validate(source, "demo", limits));
        times.push_back(timer.elapsedMs());
    }
    qInfo("4000 files: %.1f ms, 16000 files: %.1f ms", times[0], times[1]);
    QVERIFY2(times[1] < 12 * times[0], "four times the files may not cost a dozen times as much");
}

QTEST_APPLESS_MAIN(TestPackageSpeed)
#include "tst_package_speed.moc"
