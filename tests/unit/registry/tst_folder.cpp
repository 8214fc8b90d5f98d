// SPDX-License-Identifier: Apache-2.0
#include "server/registry/folder.h"
#include "tests/unit/registry/archive_fixture.h"

#include <QTemporaryDir>

#include <sys/socket.h>
#include <sys/stat.h>

using namespace assay;
using namespace assay::registry;
using test::codesOf;
using test::joined;
using test::kDemoSkill;
using test::outcome;

class TestFolder : public QObject
{
    Q_OBJECT

private slots:
    void init();
    void readsFilesAndModes();
    void ignoresWhatArchivesIgnore();
    void refusesEveryLinkByDefault();
    void copiesLinksThatStayInside();
    void refusesLinksThatLeaveOrCircle();
    void refusesSpecialFiles();
    void appliesLimits();
    void saysWhatIsNotThere();

private:
    void write(const QString& path, const std::string& bytes, unsigned mode = 0644) const;
    void link(const char* target, const QString& path) const;
    Result<PackageSource> read(FolderLinks links, const PackageLimits& limits = {}) const
    {
        return readFolder(m_dir->filePath("demo").toStdString(), links, limits);
    }
    std::unique_ptr<QTemporaryDir> m_dir;
};

void TestFolder::init()
{
    m_dir = std::make_unique<QTemporaryDir>();
    write("SKILL.md", kDemoSkill);
}

void TestFolder::write(const QString& path, const std::string& bytes, unsigned mode) const
{
    const QString file = m_dir->filePath("demo/" + path);
    QVERIFY(QDir().mkpath(QFileInfo(file).path()));
    ASSAY_OK(replaceFileDurably(file.toStdString(), bytes, mode));
}

void TestFolder::link(const char* target, const QString& path) const
{
    QCOMPARE(::symlink(target, m_dir->filePath("demo/" + path).toLocal8Bit().constData()), 0);
}

void TestFolder::readsFilesAndModes()
{
    write("scripts/run", "#!/bin/sh\n", 0755);
    write("empty", "");
    auto source = read(FolderLinks::Refuse);
    ASSAY_OK(source);
    QCOMPARE(outcome(source), "SKILL.md, empty, scripts/run*");
    QCOMPARE(source->topFolder, "demo");
    const auto package = validatePackage(std::move(*source), "", {});
    ASSAY_OK(package);
    QVERIFY(package->lints.empty());
    QCOMPARE(package->digest,
             validatePackage(test::sourceOf({{"SKILL.md", kDemoSkill}, {"empty", ""}, {"scripts/run", "#!/bin/sh\n"}},
                                            {"scripts/run"}),
                             "", {})
                 ->digest);
}

void TestFolder::ignoresWhatArchivesIgnore()
{
    write(".git/config", "x");
    write("a/.DS_Store", "x");
    write(".gitignore", "x");
    const auto source = read(FolderLinks::Refuse);
    QCOMPARE(outcome(source), ".gitignore, SKILL.md");
    QCOMPARE(joined(source->ignored), ".git/, a/.DS_Store");
}

void TestFolder::refusesEveryLinkByDefault()
{
    link("SKILL.md", "inside");
    link("/etc/passwd", "outside");
    const auto source = read(FolderLinks::Refuse);
    QCOMPARE(outcome(source), "link_not_allowed, link_not_allowed");
    QCOMPARE(source.error().problems.front().path, "inside");
}

void TestFolder::copiesLinksThatStayInside()
{
    write("lib/a.py", "a");
    write("lib/run", "#!/bin/sh\n", 0755);
    link("lib/a.py", "copy.py");
    link("../lib/run", "lib/again");
    link("lib", "alias");
    auto source = read(FolderLinks::CopyInside);
    QCOMPARE(outcome(source),
             "SKILL.md, alias/a.py, alias/again*, alias/run*, copy.py, lib/a.py, lib/again*, lib/run*");
    QCOMPARE(joined(source->copiedLinks), "alias, alias/again, copy.py, lib/again");
    QCOMPARE(source->files()[4].content, "a");
}

void TestFolder::refusesLinksThatLeaveOrCircle()
{
    for (const char* target :
         {"/etc/passwd", "../outside", "../../../../../../etc/passwd", "nothing", "loop", ".", "/proc/self/exe"}) {
        init();
        ASSAY_OK(replaceFileDurably(m_dir->filePath("outside").toStdString(), "secret"));
        link(target, "loop");
        QCOMPARE(outcome(read(FolderLinks::CopyInside)), "link_not_allowed");
    }
    init();
    write("sub/x", "x");
    link("..", "sub/up");
    QCOMPARE(outcome(read(FolderLinks::CopyInside)), "link_not_allowed");
}

void TestFolder::refusesSpecialFiles()
{
    QCOMPARE(::mkfifo(m_dir->filePath("demo/pipe").toLocal8Bit().constData(), 0600), 0);
    const auto source = read(FolderLinks::CopyInside);
    QCOMPARE(outcome(source), "link_not_allowed");
    QVERIFY(source.error().message.contains("FIFO"));
}

void TestFolder::appliesLimits()
{
    PackageLimits limits;
    limits.fileBytes = 100;
    limits.packageBytes = 150;
    limits.files = 2;
    write("a", std::string(101, 'a'));
    QCOMPARE(outcome(read(FolderLinks::Refuse, limits)), "file_too_large");
    write("a", std::string(100, 'a'));
    QCOMPARE(outcome(read(FolderLinks::Refuse, limits)), "package_too_large");
    write("a", "");
    write("b", "");
    QCOMPARE(outcome(read(FolderLinks::Refuse, limits)), "too_many_files");
}

void TestFolder::saysWhatIsNotThere()
{
    ASSAY_FAILS(readFolder("/nowhere/at/all", FolderLinks::Refuse, {}), ErrorCode::NotFound);
    ASSAY_FAILS(readFolder(m_dir->filePath("demo/SKILL.md").toStdString(), FolderLinks::Refuse, {}),
                ErrorCode::InvalidArgument);
}

QTEST_APPLESS_MAIN(TestFolder)
#include "tst_folder.moc"
