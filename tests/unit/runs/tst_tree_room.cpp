// SPDX-License-Identifier: Apache-2.0
#include "server/runs/tree_room.h"
#include "server/runs/tree_writer.h"
#include "tests/support/test_support.h"

#include <QTemporaryDir>
#include <QTest>
#include <fcntl.h>
#include <fstream>
#include <iterator>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

using namespace assay;
using namespace assay::runs;
namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t kBytes = 1U << 20;
const fs::path kShared = "/dev/shm";

bool isMemory(const fs::path& path)
{
    struct statfs info{};
    return ::statfs(path.c_str(), &info) == 0 && info.f_type == TMPFS_MAGIC && ::access(path.c_str(), W_OK) == 0;
}

std::string uniqueName() { return "assay-test-" + std::to_string(::getpid()); }

} // namespace

class TestTreeRoom : public QObject
{
    Q_OBJECT

private slots:
    void cleanup() { (void)removeTree(AT_FDCWD, (kShared / uniqueName()).c_str()); }
    void aFolderInMemoryIsPrivateAndGoneAfterwards();
    void whatAKilledServerLeftIsRemoved();
    void aFolderOfSomebodyElseIsNotUsed();
    void aDiskIsNotMemory();
    void moreThanIsFreeIsNotTaken();
    void privateMemoryIsMountedNowhere();
};

void TestTreeRoom::aFolderInMemoryIsPrivateAndGoneAfterwards()
{
    if (!isMemory(kShared))
        QSKIP("/dev/shm is no memory here");
    const auto path = kShared / uniqueName();
    {
        const auto room = TreeRoom::inMemoryOf({"/nowhere", kShared}, uniqueName(), kBytes);
        ASSAY_OK(room);
        QVERIFY((*room)->kind() == TreeRoom::Kind::MemoryFolder);
        QCOMPARE((*room)->path(), path / "trees");
        struct stat info{};
        QCOMPARE(::stat(path.c_str(), &info), 0);
        QCOMPARE(info.st_mode, S_IFDIR | 0700U);
        QCOMPARE(::mkdirat((*room)->folder(), "x", 0500), 0);
    }
    QVERIFY(!fs::exists(path));
}

void TestTreeRoom::whatAKilledServerLeftIsRemoved()
{
    if (!isMemory(kShared))
        QSKIP("/dev/shm is no memory here");
    fs::create_directories(kShared / uniqueName() / "trees" / "sc_a");
    fs::permissions(kShared / uniqueName(), fs::perms::all);
    const auto room = TreeRoom::inMemoryOf({kShared}, uniqueName(), kBytes);
    ASSAY_OK(room);
    QVERIFY(fs::is_empty((*room)->path()));
    struct stat info{};
    QCOMPARE(::stat((kShared / uniqueName()).c_str(), &info), 0);
    QCOMPARE(info.st_mode, S_IFDIR | 0700U);
}

void TestTreeRoom::aFolderOfSomebodyElseIsNotUsed()
{
    if (!isMemory(kShared) || ::geteuid() != 0)
        QSKIP("needs root and /dev/shm");
    const auto path = kShared / uniqueName();
    fs::create_directory(path);
    QCOMPARE(::chown(path.c_str(), 990'001, 990'001), 0);
    ASSAY_FAILS(TreeRoom::inMemoryOf({kShared}, uniqueName(), kBytes), ErrorCode::Unavailable);
    QVERIFY(fs::is_empty(path));
    fs::remove(path);
    fs::create_directory_symlink("/tmp", path);
    QVERIFY(!TreeRoom::inMemoryOf({kShared}, uniqueName(), kBytes));
    fs::remove(path);
}

void TestTreeRoom::aDiskIsNotMemory()
{
    const QTemporaryDir directory;
    if (isMemory(directory.path().toStdString()))
        QSKIP("temporary files are in memory here");
    ASSAY_FAILS(TreeRoom::inMemoryOf({directory.path().toStdString()}, uniqueName(), kBytes), ErrorCode::Unavailable);
    QVERIFY(!fs::exists(fs::path(directory.path().toStdString()) / uniqueName()));
}

void TestTreeRoom::moreThanIsFreeIsNotTaken()
{
    if (!isMemory(kShared))
        QSKIP("/dev/shm is no memory here");
    ASSAY_FAILS(TreeRoom::inMemoryOf({kShared}, uniqueName(), 1ULL << 50), ErrorCode::Unavailable);
    QVERIFY(!fs::exists(kShared / uniqueName()));
}

void TestTreeRoom::privateMemoryIsMountedNowhere()
{
    const auto room = TreeRoom::inMemory(uniqueName(), kBytes);
    if (!room || (*room)->kind() != TreeRoom::Kind::PrivateMemory)
        QSKIP("needs root and Linux 6.15");
    QCOMPARE(::mkdirat((*room)->folder(), "x", 0700), 0);
    QVERIFY(fs::is_directory((*room)->path() / "x"));
    std::ifstream mounts("/proc/self/mountinfo");
    const std::string text{std::istreambuf_iterator<char>(mounts), {}};
    QVERIFY(!text.contains("assay-packages"));
    QVERIFY(!fs::exists(kShared / uniqueName()));
}

QTEST_APPLESS_MAIN(TestTreeRoom)
#include "tst_tree_room.moc"
