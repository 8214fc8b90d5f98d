// SPDX-License-Identifier: Apache-2.0
#include "server/core/random.h"
#include "server/registry/skill_service.h"
#include "server/store/package_store_factory.h"
#include "tests/support/skill_sources.h"

#include <sys/mount.h>

using namespace assay;
using test::kScopeA;

namespace {

/// A small file system of its own; mounting one needs root.
class SmallDisk
{
public:
    SmallDisk() { m_isMounted = ::mount("tmpfs", m_folder.path().toUtf8().constData(), "tmpfs", 0, "size=6m") == 0; }
    ~SmallDisk()
    {
        if (m_isMounted)
            ::umount2(m_folder.path().toUtf8().constData(), MNT_DETACH);
    }
    bool isMounted() const { return m_isMounted; }
    std::filesystem::path path(const char* name) const { return m_folder.filePath(name).toStdString(); }

private:
    QTemporaryDir m_folder;
    bool m_isMounted = false;
};

} // namespace

class TestDiskFull : public QObject
{
    Q_OBJECT

private slots:
    void aFullDiskIsUnavailableAndChangesNothing_data();
    void aFullDiskIsUnavailableAndChangesNothing();
};

void TestDiskFull::aFullDiskIsUnavailableAndChangesNothing_data()
{
    QTest::addColumn<QString>("backend");
    QTest::newRow("database") << "database";
    QTest::newRow("filesystem") << "filesystem";
}

void TestDiskFull::aFullDiskIsUnavailableAndChangesNothing()
{
    QFETCH(const QString, backend);
    const SmallDisk disk;
    if (!disk.isMounted())
        QSKIP("mounting a small file system needs root: the full disk was not tried");
    const test::FakeClock clock;
    const auth::Identity by = test::builderOf(kScopeA);
    const auto database = store::Database::open({.file = disk.path("assay.db")});
    ASSAY_OK(database);
    const auto packages = store::makePackageStore({backend.toStdString(), disk.path("packages")}, **database);
    ASSAY_OK(packages);
    registry::SkillService skills(**database, **packages, clock, {});
    // Room that an operator can free.
    QFile ballast(QString::fromStdString(disk.path("ballast")));
    QVERIFY(ballast.open(QIODevice::WriteOnly));
    QCOMPARE(ballast.write(QByteArray(2 << 20, 'b')), 2 << 20);
    ballast.close();

    const std::map<std::string, std::string> files{{"SKILL.md", "---\nname: big\ndescription: D\n---\n"},
                                                   {"a.bin", randomBytes(8 << 20)}};
    ASSAY_OK(skills.publish(by, "keep", test::makeSkill("keep"), {}));
    const auto refused = skills.publish(by, "big", test::makeSource(files), {});
    ASSAY_FAILS(refused, ErrorCode::Unavailable);
    QVERIFY2(refused.error().message.contains("disk is full"), refused.error().message.c_str());
    ASSAY_FAILS(skills.find(by, "big"), ErrorCode::NotFound);
    ASSAY_OK(skills.file(by, "keep", "current", "SKILL.md"));

    // Many small ones until it is full: what was acknowledged stays.
    int acknowledged = 0;
    for (;; ++acknowledged) {
        const std::string name = "s" + std::to_string(acknowledged);
        const auto done =
            skills.publish(by, name,
                           test::makeSource({{"SKILL.md", "---\nname: " + name + "\ndescription: D\n---\n"},
                                             {"a.bin", randomBytes(50'000)}}),
                           {});
        if (!done) {
            ASSAY_FAILS(done, ErrorCode::Unavailable);
            ASSAY_FAILS(skills.find(by, name), ErrorCode::NotFound);
            break;
        }
    }
    QVERIFY(acknowledged > 3);
    for (int i = 0; i < acknowledged; ++i)
        ASSAY_OK(skills.file(by, "s" + std::to_string(i), "current", "a.bin"));
    QVERIFY(ballast.remove());
    ASSAY_OK(skills.publish(by, "later", test::makeSkill("later"), {}));
}

QTEST_GUILESS_MAIN(TestDiskFull)
#include "tst_disk_full.moc"
