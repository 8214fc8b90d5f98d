// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/registry/archive_fixture.h"

#include <QFile>
#include <QProcess>
#include <QTemporaryDir>

using namespace assay;
using namespace assay::registry;
using test::kDemoSkill;
using test::readBytes;

class TestArchiveWriter : public QObject
{
    Q_OBJECT

private slots:
    void givesTheSameBytesAgain();
    void roundTripsToTheSameDigest_data() { kinds(); }
    void roundTripsToTheSameDigest();
    void doesNotDependOnTheTimeZone();
    void isReadByCommonTools_data() { kinds(); }
    void isReadByCommonTools();
    void readsWhatCommonToolsWrite_data();
    void readsWhatCommonToolsWrite();

private:
    static void kinds();
};

namespace {

const std::map<std::string, std::string>& content()
{
    static const std::map<std::string, std::string> files{
        {"SKILL.md", kDemoSkill},
        {"assets/" + std::string(150, 'n') + "/logo.bin", std::string("\0\xff\x80", 3)},
        {"data.txt", std::string(20000, 'a')},
        {"empty", ""},
        {"scripts/run.sh", "#!/bin/sh\necho hi\n"},
        {"\u65e5\u672c.md", "x"}};
    return files;
}

constexpr std::array kKinds{ArchiveKind::Zip, ArchiveKind::Tar, ArchiveKind::TarGz};

Result<std::string> archive(ArchiveKind kind)
{
    return writeArchive(test::packageFiles(content(), {"scripts/run.sh"}), "demo", kind);
}

Result<ValidPackage> expected() { return validatePackage(test::sourceOf(content(), {"scripts/run.sh"}), "demo", {}); }

bool run(const QString& directory, const QString& script)
{
    QProcess process;
    process.setWorkingDirectory(directory);
    process.start("bash", {"-euc", script});
    return process.waitForFinished(30000) && process.exitStatus() == QProcess::NormalExit && process.exitCode() == 0;
}

QByteArray bytesOf(const QString& path)
{
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

} // namespace

void TestArchiveWriter::kinds()
{
    QTest::addColumn<int>("kind");
    QTest::newRow("zip") << static_cast<int>(ArchiveKind::Zip);
    QTest::newRow("tar") << static_cast<int>(ArchiveKind::Tar);
    QTest::newRow("tar.gz") << static_cast<int>(ArchiveKind::TarGz);
}

void TestArchiveWriter::givesTheSameBytesAgain()
{
    std::vector<std::string> first;
    for (const ArchiveKind kind : kKinds)
        first.push_back(archive(kind).value());
    QTest::qSleep(1100); // a second later, so that a time in it would show
    for (std::size_t i = 0; i < kKinds.size(); ++i)
        QVERIFY(first[i] == archive(kKinds[i]).value());
}

void TestArchiveWriter::roundTripsToTheSameDigest()
{
    QFETCH(int, kind);
    const auto bytes = archive(static_cast<ArchiveKind>(kind));
    ASSAY_OK(bytes);
    auto source = readBytes(*bytes, static_cast<ArchiveKind>(kind));
    ASSAY_OK(source);
    QCOMPARE(source->topFolder, "demo");
    const auto package = validatePackage(std::move(*source), "demo", {});
    ASSAY_OK(package);
    QCOMPARE(package->digest.text(), expected()->digest.text());
}

void TestArchiveWriter::doesNotDependOnTheTimeZone()
{
    const QByteArray before = qgetenv("TZ");
    std::vector<std::string> seen;
    for (const char* zone : {"UTC", "Pacific/Kiritimati", "America/Los_Angeles"}) {
        qputenv("TZ", zone);
        ::tzset();
        seen.push_back(archive(ArchiveKind::Zip).value() + archive(ArchiveKind::TarGz).value());
    }
    before.isNull() ? qunsetenv("TZ") : qputenv("TZ", before);
    ::tzset();
    QVERIFY(seen[0] == seen[1] && seen[1] == seen[2]);
}

void TestArchiveWriter::isReadByCommonTools()
{
    QFETCH(int, kind);
    const QTemporaryDir dir;
    const auto bytes = archive(static_cast<ArchiveKind>(kind));
    ASSAY_OK(bytes);
    ASSAY_OK(replaceFileDurably(dir.filePath("a").toStdString(), *bytes));
    QVERIFY(run(dir.path(), kind == static_cast<int>(ArchiveKind::Zip) ? "LC_ALL=C.UTF-8 unzip -q a" : "tar xf a"));
    for (const auto& [path, wanted] : content())
        QCOMPARE(bytesOf(dir.filePath("demo/" + QString::fromStdString(path))), QByteArray::fromStdString(wanted));
    QVERIFY(QFileInfo(dir.filePath("demo/scripts/run.sh")).isExecutable());
    QVERIFY(!QFileInfo(dir.filePath("demo/SKILL.md")).permission(QFile::ExeOwner));
}

void TestArchiveWriter::readsWhatCommonToolsWrite_data()
{
    QTest::addColumn<int>("kind");
    QTest::addColumn<QString>("script");
    const int zip = static_cast<int>(ArchiveKind::Zip);
    const int tar = static_cast<int>(ArchiveKind::Tar);
    const int gz = static_cast<int>(ArchiveKind::TarGz);
    QTest::newRow("gnu tar") << tar << "tar cf out demo";
    QTest::newRow("pax tar") << tar << "tar --format=pax -cf out demo";
    QTest::newRow("ustar in the folder") << gz << "cd demo; tar czf ../out .";
    QTest::newRow("gzip by name") << gz << "tar cf x demo; gzip -n x; mv x.gz out";
    QTest::newRow("info-zip") << zip << "zip -qr out.zip demo; mv out.zip out";
    QTest::newRow("info-zip to a pipe") << zip << "zip -qr - demo | cat >out";
    QTest::newRow("python zipfile")
        << zip << "python3 -c 'import shutil; shutil.make_archive(\"o\", \"zip\", \"demo\")'; mv o.zip out";
    QTest::newRow("python to a pipe") << zip << "python3 -m zipfile -c o.zip demo/ && mv o.zip out";
    QTest::newRow("git archive")
        << gz
        << "cd demo; git init -q .; git add -A; git -c user.name=a -c user.email=a@b commit -qm x; "
           "git archive --format=tar.gz --prefix=demo/ -o ../out HEAD";
    QTest::newRow("git archive zip")
        << zip
        << "cd demo; git init -q .; git add -A; git -c user.name=a -c user.email=a@b commit -qm x; "
           "git archive --format=zip --prefix=demo/ -o ../out HEAD";
}

void TestArchiveWriter::readsWhatCommonToolsWrite()
{
    QFETCH(int, kind);
    QFETCH(QString, script);
    const QTemporaryDir dir;
    for (const auto& [path, bytes] : content()) {
        const QString file = dir.filePath("demo/" + QString::fromStdString(path));
        QVERIFY(QDir().mkpath(QFileInfo(file).path()));
        ASSAY_OK(replaceFileDurably(file.toStdString(), bytes, path == "scripts/run.sh" ? 0755 : 0644));
    }
    QVERIFY(run(dir.path(), script));
    auto source = readBytes(bytesOf(dir.filePath("out")).toStdString(), static_cast<ArchiveKind>(kind));
    ASSAY_OK(source);
    const auto package = validatePackage(std::move(*source), "demo", {});
    ASSAY_OK(package);
    QCOMPARE(package->digest.text(), expected()->digest.text());
}

QTEST_APPLESS_MAIN(TestArchiveWriter)
#include "tst_archive_writer.moc"
