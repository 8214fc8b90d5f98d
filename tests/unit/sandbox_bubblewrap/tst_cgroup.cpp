// SPDX-License-Identifier: Apache-2.0
#include "server/sandbox/cgroup/control_file.h"
#include "server/sandbox/cgroup/hierarchy.h"
#include "server/sandbox/cgroup/mounts.h"
#include "tests/support/test_support.h"

#include <QTemporaryDir>

#include <fstream>

using namespace assay;
using namespace assay::sandbox;
using namespace assay::sandbox::cgroup;

class TestCgroup : public QObject
{
    Q_OBJECT

private slots:
    void findsBothVersionsInOneMachine();
    void findsCoMountedControllers();
    void findsTheOwnUnifiedGroup();
    void nothingDelegatedIsSaid();
    void undelegatedUnifiedGroupIsNotUsed();
    void unifiedGroupWithoutControllersIsNotUsed();
    void oneMissingControllerMeansNoLegacy();
    void readsControlFiles();
    void neverSignalsProcessZeroOrOne();
    void removingWhatIsNotThereSucceeds();

private:
    static void write(const QString& path, const std::string& text);
};

void TestCgroup::write(const QString& path, const std::string& text)
{
    std::ofstream file(path.toStdString());
    file << text;
}

void TestCgroup::findsBothVersionsInOneMachine()
{
    const Mounts mounts =
        parseMounts("24 1 254:0 / / rw - ext4 /dev/vda rw\n"
                    "30 24 0:26 / /sys/fs/cgroup/memory rw,nosuid shared:9 - cgroup cgroup rw,memory\n"
                    "31 24 0:27 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n"
                    "32 24 0:28 / /sys/fs/cgroup/unified rw master:1 propagate_from:2 - cgroup2 cgroup2 rw\n"
                    "33 24 0:29 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,name=systemd\n");
    QCOMPARE(mounts.unified.value(), "/sys/fs/cgroup/unified");
    QCOMPARE(mounts.legacy.size(), 2U);
    QCOMPARE(mounts.legacy.at("memory"), "/sys/fs/cgroup/memory");
    QCOMPARE(mounts.legacy.at("pids"), "/sys/fs/cgroup/pids");
}

void TestCgroup::findsCoMountedControllers()
{
    const Mounts mounts = parseMounts("30 24 0:26 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup "
                                      "rw,cpu,cpuacct\nbroken line\n30 24 0:26 / /x rw -\n");
    QCOMPARE(mounts.legacy.at("cpu"), mounts.legacy.at("cpuacct"));
    QVERIFY(!mounts.unified);
}

void TestCgroup::findsTheOwnUnifiedGroup()
{
    QCOMPARE(ownUnifiedGroup("9:name=systemd:/a\n0::/system.slice/assayd.service\n").value(),
             "/system.slice/assayd.service");
    QVERIFY(!ownUnifiedGroup("4:memory:/process_api/x\n"));
    QVERIFY(!ownUnifiedGroup(""));
}

void TestCgroup::nothingDelegatedIsSaid()
{
    const Hierarchy hierarchy = Hierarchy::open(Mounts(), "", "0123456789abcdef");
    QCOMPARE(hierarchy.version(), Version::None);
    QCOMPARE(hierarchy.source(), "rlimits");
    QVERIFY(!hierarchy.shortfall().empty());
    QVERIFY(hierarchy.reap({})->empty());
}

void TestCgroup::undelegatedUnifiedGroupIsNotUsed()
{
    const QTemporaryDir folder;
    Mounts mounts;
    mounts.unified = folder.path().toStdString();
    QCOMPARE(Hierarchy::open(mounts, "0::/user.slice\n", "0123456789abcdef").version(), Version::None);
}

void TestCgroup::unifiedGroupWithoutControllersIsNotUsed()
{
    const QTemporaryDir folder;
    write(folder.filePath("cgroup.subtree_control"), "");
    write(folder.filePath("cgroup.controllers"), "hugetlb cpuset pids memory\n"); // no cpu
    Mounts mounts;
    mounts.unified = folder.path().toStdString();
    QCOMPARE(Hierarchy::open(mounts, "0::/\n", "0123456789abcdef").version(), Version::None);
    QVERIFY(!QDir(folder.filePath("assay-server")).exists());
}

void TestCgroup::oneMissingControllerMeansNoLegacy()
{
    const QTemporaryDir folder;
    Mounts mounts;
    for (const char* name : {"memory", "pids", "cpu"})
        mounts.legacy[name] = folder.path().toStdString();
    QCOMPARE(Hierarchy::open(mounts, "", "0123456789abcdef").version(), Version::None);
}

void TestCgroup::readsControlFiles()
{
    const QTemporaryDir folder;
    const auto file = [&](const char* name) { return std::filesystem::path(folder.filePath(name).toStdString()); };
    write(folder.filePath("number"), "4096\n");
    write(folder.filePath("max"), "max\n");
    write(folder.filePath("keyed"), "oom_kill_disable 0\nunder_oom 1\noom_kill 17\n");
    QCOMPARE(readNumber(file("number")).value(), 4096U);
    QVERIFY(!readNumber(file("max")));
    QVERIFY(!readNumber(file("missing")));
    QCOMPARE(readKeyed(file("keyed"), "oom_kill").value(), 17U);
    QVERIFY(!readKeyed(file("keyed"), "oom"));
}

void TestCgroup::neverSignalsProcessZeroOrOne()
{
    const QTemporaryDir folder;
    write(folder.filePath("cgroup.procs"), "0\n1\n-5\nx\n99999999999\n4711\n");
    QCOMPARE(processesIn(folder.path().toStdString()), std::vector<int>{4711});
}

void TestCgroup::removingWhatIsNotThereSucceeds()
{
    const QTemporaryDir folder;
    QVERIFY(removeGroup(folder.filePath("gone").toStdString(), std::chrono::steady_clock::now()));
    QDir(folder.path()).mkpath("held/child");
    QVERIFY(!removeGroup(folder.filePath("held").toStdString(), std::chrono::steady_clock::now()));
}

QTEST_GUILESS_MAIN(TestCgroup)
#include "tst_cgroup.moc"
