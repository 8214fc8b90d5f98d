// SPDX-License-Identifier: Apache-2.0
// What a command is given, and how its start is told. The real init, without a box around it.
#include "server/sandbox/box.h"
#include "server/sandbox/command_encoding.h"
#include "tests/support/live_init.h"
#include "tests/support/test_support.h"

#include <QTemporaryDir>

using namespace assay;
using namespace assay::test;
using namespace assay::sandbox;

class TestBoxCommands : public QObject
{
    Q_OBJECT

private slots:
    void init();
    void reportsExitStatusAndOutput();
    void reportsSignalsAsSignals();
    void givesExactlyTheEnumeratedEnvironment();
    void givesExactlyThreeDescriptors();
    void givesASessionWithDefaultSignals();
    void givesLimitsAndMask();
    void startsInTheWorkingDirectory();
    void looksProgramsUpInPath();
    void tellsWhatCouldNotBeStarted_data();
    void tellsWhatCouldNotBeStarted();
    void takesLargeCommands();
    void refusesArgumentsTheKernelRefuses();
    void reportsUsage();
    void refusesAnInitThatIsNotProcessOne();
    void refusesSenselessLimits();

private:
    CommandResult run(const Command& command, RecordingSink& sink);
    std::string outputOf(const Command& command);

    QTemporaryDir m_folder;
    std::unique_ptr<Box> m_box;
};

void TestBoxCommands::init()
{
    QDir(m_folder.path()).mkpath("out");
    auto live = LiveInit::bare();
    QVERIFY(live);
    auto box = Box::open(std::move(live), {.limits = {.workspaceBytes = 0}},
                         {.workspace = m_folder.path().toStdString(), .role = InitRole::Subreaper});
    ASSAY_OK(box);
    m_box = *std::move(box);
}

CommandResult TestBoxCommands::run(const Command& command, RecordingSink& sink)
{
    Command here = command;
    if (here.cwd == "/workspace")
        here.cwd = m_folder.path().toStdString();
    auto result = m_box->run(here, sink, {});
    return result ? *std::move(result) : CommandResult{};
}

std::string TestBoxCommands::outputOf(const Command& command)
{
    RecordingSink sink;
    const CommandResult result = run(command, sink);
    return result.termination == Termination::Exited ? sink.out
                                                     : "ended as " + std::string(terminationName(result.termination));
}

void TestBoxCommands::reportsExitStatusAndOutput()
{
    RecordingSink sink;
    const auto result = run(shell("echo out; echo err >&2; exit 7"), sink);
    QCOMPARE(result.termination, Termination::Exited);
    QCOMPARE(result.exitCode, 7);
    QVERIFY(!result.signal);
    QCOMPARE(result.out.head + result.out.tail, "out\n");
    QCOMPARE(result.err.head + result.err.tail, "err\n");
    QCOMPARE(sink.out, "out\n");
    QCOMPARE(sink.err, "err\n");
}

void TestBoxCommands::reportsSignalsAsSignals()
{
    RecordingSink sink;
    const auto killed = run(shell("kill -SEGV $$"), sink);
    QCOMPARE(killed.termination, Termination::Signalled);
    QCOMPARE(killed.signal, SIGSEGV);
    QVERIFY(!killed.exitCode);
    const auto looksLike = run(shell("exit 139"), sink);
    QCOMPARE(looksLike.termination, Termination::Exited);
    QCOMPARE(looksLike.exitCode, 139);
}

void TestBoxCommands::givesExactlyTheEnumeratedEnvironment()
{
    Command command = shell("");
    command.argv = {"env"};
    command.env = {{"EXTRA", "1 2"}, {"HOME", "/tmp"}};
    std::string expected;
    for (const std::string& line : commandEnvironment(command.env))
        expected += line + "\n";
    QCOMPARE(outputOf(command), expected);
}

void TestBoxCommands::givesExactlyThreeDescriptors()
{
    // The listing's own descriptor is the fourth.
    QCOMPARE(outputOf(python("import os; print(sorted(map(int, os.listdir('/proc/self/fd'))),"
                             "[os.readlink(f'/proc/self/fd/{n}').split(':')[0] for n in range(3)])")),
             "[0, 1, 2, 3] ['pipe', 'pipe', 'pipe']\n");
}

void TestBoxCommands::givesASessionWithDefaultSignals()
{
    QCOMPARE(outputOf(python("import os; print(os.getsid(0) == os.getpid(), os.getpgrp() == os.getpid())")),
             "True True\n");
    // python itself ignores SIGPIPE (13) and SIGXFSZ (25); a shell's view is the truth
    QCOMPARE(outputOf(shell("grep -E '^Sig(Blk|Ign)' /proc/self/status | tr -d '\\t'")),
             "SigBlk:0000000000000000\nSigIgn:0000000000000000\n");
    QCOMPARE(outputOf(shell("grep -E '^NoNewPrivs' /proc/self/status | tr -d '\\t'")), "NoNewPrivs:1\n");
}

void TestBoxCommands::givesLimitsAndMask()
{
    QCOMPARE(outputOf(shell("ulimit -c; umask; ulimit -n")), "0\n0022\n4096\n");
}

void TestBoxCommands::startsInTheWorkingDirectory()
{
    QCOMPARE(outputOf(shell("pwd -P")), QFileInfo(m_folder.path()).canonicalFilePath().toStdString() + "\n");
    Command command = shell("pwd");
    command.cwd = "/usr";
    QCOMPARE(outputOf(command), "/usr\n");
}

void TestBoxCommands::looksProgramsUpInPath()
{
    const std::string folder = m_folder.path().toStdString();
    QCOMPARE(outputOf(shell(
                 "mkdir -p a b; printf '#!/bin/sh\\necho found\\n' > b/tool; cp b/tool a/tool; chmod 755 b/tool")),
             "");
    Command command = shell("");
    command.argv = {"tool"};
    // An entry that is not executable is passed over, as a shell would.
    command.env = {{"PATH", "::/nowhere:" + folder + "/a:" + folder + "/b"}};
    QCOMPARE(outputOf(command), "found\n");
}

void TestBoxCommands::tellsWhatCouldNotBeStarted_data()
{
    QTest::addColumn<QByteArray>("prepare");
    QTest::addColumn<QByteArray>("program");
    QTest::addColumn<int>("code");
    QTest::addColumn<QByteArray>("says");
    const auto row = [](const char* name, const char* prepare, const char* program, ErrorCode code, const char* says) {
        QTest::newRow(name) << QByteArray(prepare) << QByteArray(program) << int(code) << QByteArray(says);
    };
    row("missing name", "", "no-such-program", ErrorCode::NotFound, "no program no-such-program");
    row("missing path", "", "./no-such", ErrorCode::NotFound, "no program ./no-such");
    row("not executable", "echo x > plain", "./plain", ErrorCode::InvalidArgument, "executable bit");
    row("a folder", "mkdir -p folder", "./folder", ErrorCode::InvalidArgument, "Permission denied");
    row("no first line", "printf '\\x01\\x02' > raw; chmod 755 raw", "./raw", ErrorCode::InvalidArgument, "first line");
    row("no interpreter", "printf '#!/no/interpreter\\n' > bad; chmod 755 bad", "./bad", ErrorCode::NotFound,
        "interpreter");
    row("carriage return", "printf '#!/bin/sh\\r\\n' > crlf; chmod 755 crlf", "./crlf", ErrorCode::NotFound,
        "carriage return");
    row("link in a circle", "ln -sf circle circle", "./circle", ErrorCode::InvalidArgument, "symbolic links");
}

void TestBoxCommands::tellsWhatCouldNotBeStarted()
{
    QFETCH(QByteArray, prepare);
    QFETCH(QByteArray, program);
    QFETCH(int, code);
    QFETCH(QByteArray, says);
    QCOMPARE(outputOf(shell(prepare.toStdString())), "");
    Command command = shell("");
    command.argv = {program.toStdString()};
    command.cwd = m_folder.path().toStdString();
    RecordingSink sink;
    const auto failed = m_box->run(command, sink, {});
    QVERIFY(!failed);
    QCOMPARE(int(failed.error().code), code);
    QVERIFY2(failed.error().message.find(says.toStdString()) != std::string::npos, failed.error().message.c_str());
    // and the box goes on
    QCOMPARE(outputOf(shell("echo on")), "on\n");
}

void TestBoxCommands::takesLargeCommands()
{
    Command command = shell("");
    command.argv = {"sh", "-c", "printf %s \"$1$2$3$4\" | cksum; echo $#", "sh"};
    std::string all;
    for (int i = 0; i < 4; ++i) {
        command.argv.emplace_back(100'000, static_cast<char>('a' + i));
        all += command.argv.back();
    }
    for (int i = 0; i < 3000; ++i)
        command.argv.emplace_back("x");
    const std::string told = outputOf(command);
    QVERIFY2(told.find(" 400000\n3004\n") != std::string::npos, told.c_str());
}

void TestBoxCommands::refusesArgumentsTheKernelRefuses()
{
    Command command = shell("");
    command.argv = {"true", std::string(200'000, 'x')};
    command.cwd = "/";
    RecordingSink sink;
    const auto failed = m_box->run(command, sink, {});
    ASSAY_FAILS(failed, ErrorCode::InvalidArgument);
}

void TestBoxCommands::reportsUsage()
{
    RecordingSink sink;
    // Half a second of processor time in a grandchild that nobody waits for, and 60 MiB in one place.
    const auto result = run(python("import subprocess,sys,time\n"
                                   "code='x=bytearray(60<<20)\\nimport time\\nwhile time.process_time()<0.5: pass'\n"
                                   "p=subprocess.Popen([sys.executable,'-I','-c',code]); p.wait()"),
                            sink);
    QCOMPARE(result.termination, Termination::Exited);
    QVERIFY2(result.cpu.count() >= 500 && result.cpu.count() < 5000, qPrintable(QString::number(result.cpu.count())));
    QVERIFY2(result.maxRssBytes > (60U << 20) && result.maxRssBytes < (200U << 20),
             qPrintable(QString::number(result.maxRssBytes)));
    QVERIFY(result.wall.count() >= 500);
}

void TestBoxCommands::refusesAnInitThatIsNotProcessOne()
{
    auto box = Box::open(LiveInit::bare(), {}, {.workspace = m_folder.path().toStdString()});
    ASSAY_FAILS(box, ErrorCode::Unavailable);
}

void TestBoxCommands::refusesSenselessLimits()
{
    RecordingSink sink;
    Command command = shell("true");
    command.cwd = "/";
    for (const std::int64_t wall : {0, -1, 24 * 3600 * 1000 + 1}) {
        command.limits.wall = std::chrono::milliseconds(wall);
        const auto failed = m_box->run(command, sink, {});
        ASSAY_FAILS(failed, ErrorCode::InvalidArgument);
    }
}

QTEST_GUILESS_MAIN(TestBoxCommands)
#include "tst_box_commands.moc"
