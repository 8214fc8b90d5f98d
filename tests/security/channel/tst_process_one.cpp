// SPDX-License-Identifier: Apache-2.0
// assay-init as process 1 of a namespace: what a command can do to it, and what it does to a command's tree.
#include "server/core/file_io.h"
#include "server/sandbox/box.h"
#include "tests/support/live_init.h"
#include "tests/support/test_support.h"

#include <QElapsedTimer>
#include <QTemporaryDir>

#include <filesystem>

using namespace assay;
using namespace assay::test;
using namespace assay::sandbox;
namespace fs = std::filesystem;

class TestProcessOne : public QObject
{
    Q_OBJECT

private slots:
    void init();
    void survivesEverySignalFromInside();
    void nothingOfItCanBeReadOrTraced();
    void commandsSeeNoneOfTheServersThings();
    void processesThatKeepMovingAreKilled();
    void nothingIsLeftBetweenCommands();
    void reapsOrphansWhileACommandRuns();
    void diskQuotaEndsTheCommand();
    void diskQuotaIsSeenAtTheEndOfABriefCommand();
    void diskQuotaCountsUnlinkedFiles();
    void aFullWorkspaceRefusesFiles();
    void verifiesAReadOnlyTree();
    void refusesATreeThatDiffers();

private:
    void open(const std::string& skills = {}, std::vector<PinnedPackage> packages = {});
    CommandResult run(const Command& command);

    RecordingSink m_sink;
    std::unique_ptr<Box> m_box;
};

namespace {

constexpr std::uint64_t kWorkspaceBytes = 8 << 20;
constexpr std::uint64_t kSlack = 128 * 1024;

PinnedPackage makePackage(const fs::path& root)
{
    PinnedPackage package{.name = "demo", .digest = {}, .tree = root / "demo", .files = {}};
    fs::create_directories(package.tree / "scripts");
    (void)replaceFileDurably(package.tree / "SKILL.md", "md", 0444);
    (void)replaceFileDurably(package.tree / "scripts/run.sh", "#!/bin/sh\necho ran\n", 0555);
    fs::permissions(package.tree / "scripts", fs::perms(0555));
    fs::permissions(package.tree, fs::perms(0555));
    package.files.push_back({"SKILL.md", Digest::ofBytes("md"), 2, false});
    package.files.push_back({"scripts/run.sh", Digest::ofBytes("#!/bin/sh\necho ran\n"), 19, true});
    return package;
}

} // namespace

void TestProcessOne::init() { open(); }

void TestProcessOne::open(const std::string& skills, std::vector<PinnedPackage> packages)
{
    m_box.reset();
    m_sink = {};
    auto live = LiveInit::boxed(kWorkspaceBytes + kSlack, skills);
    QVERIFY(live);
    BoxSpec spec;
    spec.limits.workspaceBytes = kWorkspaceBytes;
    spec.packages = std::move(packages);
    auto box = Box::open(std::move(live), std::move(spec));
    ASSAY_OK(box);
    m_box = *std::move(box);
}

CommandResult TestProcessOne::run(const Command& command)
{
    m_sink.out.clear();
    m_sink.err.clear();
    auto result = m_box->run(command, m_sink, {});
    return result ? *std::move(result) : CommandResult{};
}

void TestProcessOne::survivesEverySignalFromInside()
{
    const auto result = run(python("import os\n"
                                   "for s in range(1, 65):\n"
                                   "  try: os.kill(1, s)\n"
                                   "  except OSError: pass\n"
                                   "for _ in range(2000): os.kill(1, 34)\n"
                                   "print('sent')"));
    QCOMPARE(result.termination, Termination::Exited);
    QCOMPARE(m_sink.out, "sent\n");
    // Also "everybody", which spares process 1 and the sender.
    QCOMPARE(run(python("import os, subprocess\n"
                        "p = subprocess.Popen(['sleep', '100'])\n"
                        "os.kill(-1, 9); print(p.wait())"))
                 .exitCode,
             0);
    QCOMPARE(m_sink.out, "-9\n");
    QCOMPARE(run(shell("exit 3")).exitCode, 3);
}

void TestProcessOne::nothingOfItCanBeReadOrTraced()
{
    // Its user is the command's own; what protects it is that it is undumpable.
    run(python("import ctypes, os\n"
               "libc = ctypes.CDLL(None, use_errno=True)\n"
               "for name in ('mem', 'environ', 'maps', 'fd/0', 'fd/1', 'exe', 'cwd', 'root'):\n"
               "  try:\n"
               "    os.readlink('/proc/1/' + name) if name in ('exe', 'cwd', 'root') else open('/proc/1/' + name, "
               "'rb').read(1)\n"
               "    print('READ', name)\n"
               "  except OSError as e: print('refused', name)\n"
               "print(libc.ptrace(16, 1, 0, 0))"));
    QCOMPARE(m_sink.out, "refused mem\nrefused environ\nrefused maps\nrefused fd/0\nrefused fd/1\nrefused exe\n"
                         "refused cwd\nrefused root\n-1\n");
}

void TestProcessOne::commandsSeeNoneOfTheServersThings()
{
    run(shell("env; ls -l /proc/self/fd; echo pid $$; ls /proc | grep -c '^[0-9]'"));
    QVERIFY2(m_sink.out.find("PATH=") != std::string::npos, m_sink.out.c_str());
    QVERIFY2(m_sink.out.find("ASSAY_SECRET") == std::string::npos, m_sink.out.c_str());
    QVERIFY2(m_sink.out.find("socket:") == std::string::npos, m_sink.out.c_str());
}

void TestProcessOne::processesThatKeepMovingAreKilled()
{
    // Fifty runners: each forks, the parent dies, the child goes on. A list of process ids is always late for them.
    Command command = python("import os\n"
                             "for _ in range(50):\n"
                             "  if os.fork() == 0:\n"
                             "    os.setsid()\n"
                             "    while True:\n"
                             "      if os.fork() > 0: os._exit(0)\n"
                             "import time; time.sleep(100)");
    command.limits.wall = std::chrono::milliseconds(700);
    QElapsedTimer timer;
    timer.start();
    const auto result = run(command);
    QCOMPARE(result.termination, Termination::Timeout);
    QVERIFY2(timer.elapsed() < 5000, qPrintable(QString::number(timer.elapsed())));
    QCOMPARE(run(shell("ls -d /proc/[0-9]* | wc -l")).exitCode, 0);
    // Process 1, the shell, ls and wc.
    QVERIFY2(std::stoi(m_sink.out) <= 4, m_sink.out.c_str());
}

void TestProcessOne::nothingIsLeftBetweenCommands()
{
    run(shell("for i in 1 2 3; do setsid sleep 100 & done; (sleep 100 &); nohup sleep 100 >/dev/null 2>&1 &"));
    run(shell("cat /proc/[0-9]*/comm | grep -c sleep"));
    QCOMPARE(m_sink.out, "0\n");
}

void TestProcessOne::reapsOrphansWhileACommandRuns()
{
    run(shell(
        "for i in 1 2 3 4 5 6 7 8; do (true &) ; done; sleep 0.3; grep -l '^State:.Z' /proc/[0-9]*/status | wc -l"));
    QCOMPARE(m_sink.out, "0\n");
}

void TestProcessOne::diskQuotaEndsTheCommand()
{
    QElapsedTimer timer;
    timer.start();
    const auto result = run(shell("head -c 100000000 /dev/zero > big; sleep 100"));
    QCOMPARE(result.termination, Termination::DiskQuotaExceeded);
    QVERIFY(timer.elapsed() < 10'000);
    const auto usage = m_box->measureWorkspace();
    ASSAY_OK(usage);
    QVERIFY(usage->usedBytes > usage->limitBytes);
    // The box goes on, and a command that makes room in time is none over the limit.
    QCOMPARE(run(shell("rm big")).termination, Termination::Exited);
}

void TestProcessOne::diskQuotaIsSeenAtTheEndOfABriefCommand()
{
    const auto result = run(shell("head -c 100000000 /dev/zero > big 2>/dev/null"));
    QCOMPARE(result.termination, Termination::DiskQuotaExceeded);
}

void TestProcessOne::diskQuotaCountsUnlinkedFiles()
{
    const auto result = run(python("import os, time\n"
                                   "f = open('gone', 'wb'); os.unlink('gone')\n"
                                   "try: f.write(bytes(9 << 20)); f.flush()\n"
                                   "except OSError: pass\n"
                                   "time.sleep(100)"));
    QCOMPARE(result.termination, Termination::DiskQuotaExceeded);
}

void TestProcessOne::aFullWorkspaceRefusesFiles()
{
    const auto put = m_box->putFile("large", std::string(kWorkspaceBytes + 1000, 'x'), false);
    ASSAY_FAILS(put, ErrorCode::TooLarge);
    run(shell("ls"));
    QCOMPARE(m_sink.out, "out\n");
    const auto small = m_box->putFile("small", "x", false);
    ASSAY_OK(small);
}

void TestProcessOne::verifiesAReadOnlyTree()
{
    QTemporaryDir folder;
    const auto package = makePackage(folder.path().toStdString());
    open(folder.path().toStdString(), {package});
    const auto verified = m_box->verifyPackages();
    ASSAY_OK(verified);
    Command command = shell("");
    command.argv = {"/skills/demo/scripts/run.sh"};
    QCOMPARE(run(command).exitCode, 0);
    QCOMPARE(m_sink.out, "ran\n");
    fs::permissions(package.tree, fs::perms(0755));
    fs::permissions(package.tree / "scripts", fs::perms(0755));
}

void TestProcessOne::refusesATreeThatDiffers()
{
    QTemporaryDir folder;
    auto package = makePackage(folder.path().toStdString());
    fs::permissions(package.tree, fs::perms(0755));
    fs::permissions(package.tree / "scripts", fs::perms(0755));
    (void)replaceFileDurably(package.tree / "SKILL.md", "mD", 0444);
    fs::permissions(package.tree / "scripts", fs::perms(0555));
    fs::permissions(package.tree, fs::perms(0555));
    open(folder.path().toStdString(), {package});
    const auto refused = m_box->verifyPackages();
    ASSAY_FAILS(refused, ErrorCode::Refused);
    QCOMPARE(refused.error().reason, "digest_mismatch");
    fs::permissions(package.tree, fs::perms(0755));
    fs::permissions(package.tree / "scripts", fs::perms(0755));
}

QTEST_GUILESS_MAIN(TestProcessOne)
#include "tst_process_one.moc"
