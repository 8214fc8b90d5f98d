// SPDX-License-Identifier: Apache-2.0
#include "server/core/file_io.h"
#include "server/sandbox/bubblewrap/arguments.h"
#include "server/sandbox/bubblewrap/etc_tree.h"
#include "server/sandbox/bubblewrap/failure.h"
#include "server/sandbox/bubblewrap/folder_mounts.h"
#include "server/sandbox/bubblewrap/inspection.h"
#include "server/sandbox/bubblewrap/instance.h"
#include "server/sandbox/bubblewrap/launch.h"
#include "server/sandbox/bubblewrap/memory_file.h"
#include "server/sandbox/bubblewrap/process_table.h"
#include "tests/support/test_support.h"

#include <QTemporaryDir>

#include <cmath>
#include <fcntl.h>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

using namespace assay;
using namespace assay::sandbox;
using namespace assay::sandbox::bubblewrap;

/// The parts of the driver that need no box.
class TestBubblewrapParts : public QObject
{
    Q_OBJECT

private slots:
    void optionsEndWithAReadOnlyRoot();
    void namesTheCause_data();
    void namesTheCause();
    void namesTheSwitchThatIsOff();
    void refusesSpecs_data();
    void refusesSpecs();
    void acceptsAnOrdinarySpec();
    void findsForgottenWritableMounts();
    void anInstanceIsADirectoryNotItsCopy();
    void etcIsReadableWhateverTheUmask();
    void messagesAreBoundedAndClean();
    void namesCannotForgeAParent();
    void aFoldersMountGoesWithTheFolder();
};

void TestBubblewrapParts::optionsEndWithAReadOnlyRoot()
{
    Sources sources;
    sources.init = "/stage/init";
    sources.system = {{"/stage/base/usr", "/usr", ""}, {"", "/bin", "usr/bin"}};
    sources.packages = {{"ticket-analysis", "/stage/0"}};
    const std::string text = bwrapOptions(BoxLimits(), sources);
    QVERIFY(text.ends_with(std::string("--remount-ro\0/\0--chdir\0/workspace\0", 34)));
    for (const std::string& part : {std::string("--ro-bind\0/stage/0\0/skills/ticket-analysis\0", 43),
                                    std::string("--clearenv\0", 11), std::string("--symlink\0usr/bin\0/bin\0", 23),
                                    std::string("--cap-drop\0ALL\0", 15), std::string("--disable-userns\0", 17)})
        QVERIFY2(text.contains(part), part.c_str());
    // The workspace is larger than its limit by the slack that lets the init see an overrun.
    QVERIFY(text.contains(std::to_string((256U << 20) + (128U << 10))));
    QVERIFY(!text.contains(std::string("--bind\0", 7)));
}

void TestBubblewrapParts::aFoldersMountGoesWithTheFolder()
{
    if (::geteuid() != 0)
        QSKIP("needs root");
    const QTemporaryDir directory;
    const std::filesystem::path top = directory.path().toStdString();
    const auto makeTree = [&](const char* content) {
        std::filesystem::create_directory(top / "tree");
        std::ofstream(top / "tree/file") << content;
    };
    std::filesystem::create_directory(top / "empty");
    const auto empty = openFile(top / "empty", O_PATH | O_DIRECTORY);
    ASSAY_OK(empty);
    const auto shown = [](const UniqueFd& mount) {
        const UniqueFd file(::openat(mount.get(), "file", O_RDONLY | O_CLOEXEC));
        char text[16];
        const auto got = ::read(file.get(), text, sizeof text);
        return std::string(text, got > 0 ? static_cast<std::size_t>(got) : 0);
    };
    makeTree("one");
    FolderMounts mounts;
    const auto first = mounts.take(top / "tree", empty->get());
    ASSAY_OK(first);
    QCOMPARE(shown(*first), "one");
    if (mounts.kept() == 0)
        QSKIP("this kernel cannot clone a mount that hangs nowhere");
    const auto second = mounts.take(top / "tree", empty->get());
    ASSAY_OK(second);
    QCOMPARE(shown(*second), "one");
    QVERIFY(::openat(second->get(), "new", O_CREAT | O_WRONLY | O_CLOEXEC, 0600) < 0);
    QCOMPARE(errno, EROFS);
    QCOMPARE(mounts.kept(), 1U);
    std::filesystem::remove_all(top / "tree");
    QVERIFY(!mounts.take(top / "tree", empty->get()));
    makeTree("two");
    const auto third = mounts.take(top / "tree", empty->get());
    ASSAY_OK(third);
    QCOMPARE(shown(*third), "two");
    QCOMPARE(mounts.kept(), 1U);
}

void TestBubblewrapParts::namesTheCause_data()
{
    QTest::addColumn<QString>("message");
    QTest::addColumn<QString>("reason");
    const auto row = [](const char* name, const char* message, const char* reason) {
        QTest::newRow(name) << QString(message) << QString(reason);
    };
    row("namespaces",
        "bwrap: No permissions to create new namespace, likely because the kernel does not allow non-privileged user "
        "namespaces.",
        "refuses a user namespace");
    row("namespaces, since 0.11", "bwrap: No permissions to create a new namespace, likely because the kernel",
        "refuses a user namespace");
    row("namespaces, limit", "bwrap: Creating new namespace failed: No space left on device",
        "refuses a user namespace");
    row("uid map", "bwrap: setting up uid map: Permission denied", "no rights of its own");
    row("loopback", "bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted", "no rights of its own");
    row("proc", "bwrap: Can't mount proc on /newroot/proc: Operation not permitted", "/proc of its own");
    row("old", "bwrap: Unknown option --disable-userns", "0.8 or newer");
    row("filter", "bwrap: prctl(PR_SET_SECCOMP): Invalid argument: seccomp", "system call filter");
    row("something new", "bwrap: the moon is full", "could not be made");
}

void TestBubblewrapParts::namesTheCause()
{
    QFETCH(QString, message);
    QFETCH(QString, reason);
    const QTemporaryDir proc;
    const Diagnosis found = diagnose(message.toStdString(), proc.path().toStdString());
    QVERIFY2(found.reason.contains(reason.toStdString()), found.reason.c_str());
    QVERIFY(!found.remedy.empty());
}

void TestBubblewrapParts::namesTheSwitchThatIsOff()
{
    const QTemporaryDir proc;
    QDir(proc.path()).mkpath("sys/kernel");
    const auto set = [&](const char* name, const char* value) {
        std::ofstream(proc.filePath(QString("sys/") + name).toStdString()) << value;
    };
    const auto cause = [&] {
        return diagnose("bwrap: setting up uid map: Permission denied", proc.path().toStdString());
    };
    set("kernel/apparmor_restrict_unprivileged_userns", "1\n");
    QVERIFY(cause().reason.contains("AppArmor"));
    set("kernel/unprivileged_userns_clone", "0\n");
    QVERIFY(cause().remedy.contains("kernel.unprivileged_userns_clone=1"));
}

void TestBubblewrapParts::refusesSpecs_data()
{
    QTest::addColumn<std::function<void(BoxSpec&)>>("spoil");
    const auto row = [](const char* name, std::function<void(BoxSpec&)> spoil) {
        QTest::newRow(name) << std::move(spoil);
    };
    row("no id", [](BoxSpec& s) { s.id.clear(); });
    row("id with a slash", [](BoxSpec& s) { s.id = "../x"; });
    row("id in capitals", [](BoxSpec& s) { s.id = "Run"; });
    row("long id", [](BoxSpec& s) { s.id = std::string(65, 'a'); });
    row("NaN cpus", [](BoxSpec& s) { s.limits.cpus = std::nan(""); });
    row("infinite cpus", [](BoxSpec& s) { s.limits.cpus = INFINITY; });
    row("negative cpus", [](BoxSpec& s) { s.limits.cpus = -1; });
    row("no cpus", [](BoxSpec& s) { s.limits.cpus = 0; });
    row("no memory", [](BoxSpec& s) { s.limits.memoryBytes = 0; });
    row("endless memory", [](BoxSpec& s) { s.limits.memoryBytes = ~0ULL; });
    row("no processes", [](BoxSpec& s) { s.limits.pids = 0; });
    row("endless processes", [](BoxSpec& s) { s.limits.pids = ~0U; });
    row("no workspace", [](BoxSpec& s) { s.limits.workspaceBytes = 0; });
    row("endless workspace", [](BoxSpec& s) { s.limits.workspaceBytes = ~0ULL; });
    row("no tmp", [](BoxSpec& s) { s.limits.tmpBytes = 0; });
    row("package with a path for a name", [](BoxSpec& s) { s.packages[0].name = "../../etc"; });
    row("package in a relative folder", [](BoxSpec& s) { s.packages[0].tree = "trees/a"; });
    row("a package twice", [](BoxSpec& s) { s.packages.push_back(s.packages[0]); });
    row("too many packages", [](BoxSpec& s) {
        for (int i = 0; i < 64; ++i) {
            s.packages.push_back(s.packages[0]);
            s.packages.back().name = "p" + std::to_string(i);
        }
    });
}

namespace {

BoxSpec ordinarySpec()
{
    BoxSpec spec;
    spec.id = "run_01h";
    spec.packages.resize(1);
    spec.packages[0].name = "a";
    spec.packages[0].tree = "/trees/a";
    return spec;
}

} // namespace

void TestBubblewrapParts::refusesSpecs()
{
    QFETCH(std::function<void(BoxSpec&)>, spoil);
    BoxSpec spec = ordinarySpec();
    spoil(spec);
    ASSAY_FAILS(checkSpec(spec), ErrorCode::InvalidArgument);
}

void TestBubblewrapParts::acceptsAnOrdinarySpec() { ASSAY_OK(checkSpec(ordinarySpec())); }

void TestBubblewrapParts::findsForgottenWritableMounts()
{
    const auto found = unexpectedWritableMounts("1 0 0:1 / / ro,nosuid - tmpfs t rw\n2 1 0:2 / /tmp rw,nosuid - tmpfs "
                                                "t rw\n3 1 0:3 /null /dev/null rw - devtmpfs d rw\n"
                                                "4 1 0:4 / /dev rw - tmpfs t rw\n5 1 0:5 / /usr rw,relatime - ext4 d "
                                                "rw\n6 1 0:6 / /workspace rw - tmpfs t rw\n");
    QCOMPARE(found, (std::vector<std::string>{"/dev", "/usr"}));
}

void TestBubblewrapParts::anInstanceIsADirectoryNotItsCopy()
{
    const QTemporaryDir parent;
    QDir(parent.path()).mkpath("a");
    QDir(parent.path()).mkpath("b");
    const auto of = [&](const char* name) { return instanceOf(parent.filePath(name).toStdString()).value(); };
    const std::string first = of("a");
    QCOMPARE(first.size(), 16U);
    QVERIFY(first != of("b"));
    QVERIFY(QDir(parent.path()).rename("a", "c"));
    QCOMPARE(of("c"), first);
    QVERIFY(!instanceOf(parent.filePath("missing").toStdString()));
}

void TestBubblewrapParts::etcIsReadableWhateverTheUmask()
{
    const QTemporaryDir folder;
    const mode_t before = ::umask(0077);
    const auto tree = makeEtcTree(folder.path().toStdString());
    ::umask(before);
    ASSAY_OK(tree);
    for (const auto& entry : std::filesystem::recursive_directory_iterator(*tree)) {
        if (entry.is_symlink())
            continue;
        struct stat info{};
        QCOMPARE(::stat(entry.path().c_str(), &info), 0);
        QCOMPARE(info.st_mode & 0777, entry.is_directory() ? 0755U : 0644U);
    }
    QVERIFY(readFile(*tree / "passwd", 4096)->contains("box:x:10001:10001:"));
    for (const char* secret : {"shadow", "ssh", "sudoers", "machine-id", "resolv.conf"})
        QVERIFY(!std::filesystem::exists(*tree / secret));
    QCOMPARE(makeEtcTree(folder.path().toStdString()).value(), *tree);
}

void TestBubblewrapParts::messagesAreBoundedAndClean()
{
    const auto file = boundedFile("test", 64);
    ASSAY_OK(file);
    QCOMPARE(writtenText(file->get()), "");
    QCOMPARE(::write(file->get(), "bwrap: a\x1b[31m\nb\n", 16), 16);
    QCOMPARE(writtenText(file->get()), "bwrap: a [31m b");
    const std::string flood(4096, 'x');
    while (::write(file->get(), flood.data(), flood.size()) > 0) {
    }
    QVERIFY(writtenText(file->get()).size() <= 64);
}

void TestBubblewrapParts::namesCannotForgeAParent()
{
    const std::string tail = " 0 0 0 -1 0 0 0 0 0 10 20 30 40 20 0 1 0 1 1 1";
    const auto plain = parseStat("42 (sh) S 7" + tail);
    QVERIFY(plain && plain->pid == 42 && plain->parent == 7);
    QCOMPARE(plain->cpu, std::chrono::microseconds(1'000'000));
    const auto forged = parseStat("42 (x) S 1 0 (y) R 7" + tail);
    QVERIFY(forged && forged->pid == 42 && forged->parent == 7);
    for (const char* broken :
         {"", "42", "42 (sh", "42 (sh) S", "(sh) 42 S 7 0", "x (sh) S 7 0 0 0 -1 0 0 0 0 0 1 2 3 4"})
        QVERIFY(!parseStat(broken));
}

QTEST_GUILESS_MAIN(TestBubblewrapParts)
#include "tst_bubblewrap_parts.moc"
