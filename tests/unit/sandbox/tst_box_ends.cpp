// SPDX-License-Identifier: Apache-2.0
// How a command ends, and that nothing of its tree is left. The real init, without a box around it.
#include "server/sandbox/box.h"
#include "tests/support/live_init.h"
#include "tests/support/test_support.h"

#include <QElapsedTimer>
#include <QTemporaryDir>

#include <fstream>
#include <thread>

using namespace assay;
using namespace assay::test;
using namespace assay::sandbox;

class TestBoxEnds : public QObject
{
    Q_OBJECT

private slots:
    void init();
    void endsWithItsProcessNotWithItsPipes();
    void timesOutWithTheWholeTree_data();
    void timesOutWithTheWholeTree();
    void timesOutWhileInputIsBlocked();
    void timesOutWhileOutputFloods();
    void cancelWakesAtOnce();
    void cancelledBeforeTheStartRunsNothing();
    void aBoxGoesOnAfterATimeout();
    void tellsMemoryFromTheCounters();
    void tellsRefusedForksFromTheCounters();
    void aKilledInitIsALostBox();
    void losingTheServerEndsTheTree();
    void outputBeforeTheTimeoutIsKept();

private:
    CommandResult run(Command command, std::stop_token cancel = {});
    std::vector<int> pidsIn(const std::string& text) const;
    bool allGone(const std::vector<int>& pids) const;

    QTemporaryDir m_folder;
    LiveInit* m_init = nullptr;
    std::unique_ptr<Box> m_box;
    RecordingSink m_sink;
};

void TestBoxEnds::init()
{
    m_box.reset();
    m_sink = {};
    auto live = LiveInit::bare();
    QVERIFY(live);
    m_init = live.get();
    auto box = Box::open(std::move(live), {.limits = {.workspaceBytes = 0}},
                         {.workspace = m_folder.path().toStdString(), .role = InitRole::Subreaper});
    ASSAY_OK(box);
    m_box = *std::move(box);
}

CommandResult TestBoxEnds::run(Command command, std::stop_token cancel)
{
    command.cwd = "/";
    auto result = m_box->run(command, m_sink, std::move(cancel));
    return result ? *std::move(result) : CommandResult{};
}

std::vector<int> TestBoxEnds::pidsIn(const std::string& text) const
{
    std::vector<int> pids;
    for (const QString& word : QString::fromStdString(text).split(QRegularExpression("\\s+"), Qt::SkipEmptyParts))
        pids.push_back(word.toInt());
    return pids;
}

bool TestBoxEnds::allGone(const std::vector<int>& pids) const
{
    return std::ranges::none_of(pids, [](int pid) { return ::kill(pid, 0) == 0 || errno != ESRCH; });
}

void TestBoxEnds::endsWithItsProcessNotWithItsPipes()
{
    QElapsedTimer timer;
    timer.start();
    // The children hold both pipes; one has left the session, one has lost its parent.
    const auto result = run(shell("sleep 100 & echo $!; setsid sleep 100 & echo $!; (sleep 100 & echo $!)"));
    QCOMPARE(result.termination, Termination::Exited);
    QCOMPARE(result.exitCode, 0);
    QVERIFY(timer.elapsed() < 10'000);
    const auto pids = pidsIn(m_sink.out);
    QCOMPARE(pids.size(), 3U);
    QVERIFY(allGone(pids));
}

void TestBoxEnds::timesOutWithTheWholeTree_data()
{
    QTest::addColumn<QByteArray>("script");
    QTest::newRow("alone") << QByteArray("echo $$; exec sleep 100");
    QTest::newRow("grandchildren") << QByteArray(
        "echo $$; sh -c 'sh -c \"echo \\$\\$; sleep 100\" & echo $$; sleep 100' & wait");
    QTest::newRow("own session") << QByteArray("echo $$; setsid sh -c 'echo $$; sleep 100' & wait");
    QTest::newRow("double fork") << QByteArray("echo $$; (setsid sh -c 'echo $$; sleep 100' &) ; sleep 100");
    QTest::newRow("ignores signals") << QByteArray("trap '' TERM INT HUP; echo $$; sleep 100; sleep 100");
    QTest::newRow("stopped") << QByteArray("echo $$; kill -STOP $$");
}

void TestBoxEnds::timesOutWithTheWholeTree()
{
    QFETCH(QByteArray, script);
    Command command = shell(script.toStdString());
    command.limits.wall = std::chrono::milliseconds(400);
    QElapsedTimer timer;
    timer.start();
    const auto result = run(command);
    QCOMPARE(result.termination, Termination::Timeout);
    QCOMPARE(result.signal, SIGKILL);
    QVERIFY2(timer.elapsed() >= 399 && timer.elapsed() < 4000, qPrintable(QString::number(timer.elapsed())));
    const auto pids = pidsIn(m_sink.out);
    QVERIFY(!pids.empty());
    QVERIFY(allGone(pids));
}

void TestBoxEnds::timesOutWhileInputIsBlocked()
{
    Command command = shell("sleep 100");
    command.stdinBytes = std::string(5 << 20, 'x');
    command.limits.wall = std::chrono::milliseconds(200);
    QCOMPARE(run(command).termination, Termination::Timeout);
}

void TestBoxEnds::timesOutWhileOutputFloods()
{
    Command command = shell("yes & yes >&2 & yes");
    command.limits.wall = std::chrono::milliseconds(300);
    QElapsedTimer timer;
    timer.start();
    QCOMPARE(run(command).termination, Termination::Timeout);
    QVERIFY(timer.elapsed() < 5000);
}

void TestBoxEnds::cancelWakesAtOnce()
{
    std::stop_source source;
    QElapsedTimer timer;
    m_sink.onChunk = [&](const OutputChunk&) { timer.start(); };
    std::jthread canceller([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(300));
        source.request_stop();
    });
    const auto result = run(shell("echo $$; sleep 100"), source.get_token());
    QCOMPARE(result.termination, Termination::Cancelled);
    QCOMPARE(result.signal, SIGKILL);
    QVERIFY2(timer.elapsed() < 3000, qPrintable(QString::number(timer.elapsed())));
    QVERIFY(allGone(pidsIn(m_sink.out)));
    // The next command is not cancelled by the last one's wake.
    QCOMPARE(run(shell("exit 4")).exitCode, 4);
}

void TestBoxEnds::cancelledBeforeTheStartRunsNothing()
{
    std::stop_source source;
    source.request_stop();
    const auto result = run(shell("echo ran"), source.get_token());
    QCOMPARE(result.termination, Termination::Cancelled);
    QVERIFY(!result.exitCode && m_sink.out.empty());
}

void TestBoxEnds::aBoxGoesOnAfterATimeout()
{
    for (int round = 0; round < 5; ++round) {
        Command command = shell("sleep 100");
        command.limits.wall = std::chrono::milliseconds(30);
        QCOMPARE(run(command).termination, Termination::Timeout);
        QCOMPARE(run(shell("exit 6")).exitCode, 6);
    }
}

void TestBoxEnds::tellsMemoryFromTheCounters()
{
    m_sink.onChunk = [this](const OutputChunk&) { ++m_init->nextMeter.oomKills; };
    const auto result = run(shell("echo; kill -KILL $$"));
    QCOMPARE(result.termination, Termination::MemoryExceeded);
    QCOMPARE(result.signal, SIGKILL);
    // Counted once: the next command has nothing to do with it.
    QCOMPARE(run(shell("kill -KILL $$")).termination, Termination::Signalled);
}

void TestBoxEnds::tellsRefusedForksFromTheCounters()
{
    m_sink.onChunk = [this](const OutputChunk&) { ++m_init->nextMeter.pidsDenied; };
    QCOMPARE(run(shell("echo; exit 2")).termination, Termination::PidsExceeded);
    QCOMPARE(run(shell("echo; exit 0")).termination, Termination::Exited);
}

void TestBoxEnds::aKilledInitIsALostBox()
{
    m_sink.onChunk = [this](const OutputChunk&) { ::kill(m_init->pid(), SIGKILL); };
    const auto result = run(shell("echo about to lose; sleep 1"));
    QCOMPARE(result.termination, Termination::BoxLost);
    QVERIFY(!result.exitCode && !result.signal);
    QCOMPARE(m_sink.out, "about to lose\n");
    const auto again = m_box->run(shell("true"), m_sink, {});
    ASSAY_FAILS(again, ErrorCode::Unavailable);
}

void TestBoxEnds::losingTheServerEndsTheTree()
{
    const std::string file = m_folder.filePath("pids").toStdString();
    m_init->obeysKill = false;
    m_sink.onChunk = [this](const OutputChunk&) { ::shutdown(m_init->channel(), SHUT_RDWR); };
    // Its own session, its parent gone, its output elsewhere: found all the same.
    const auto result =
        run(shell("(setsid sh -c 'echo $$ > " + file + "; exec sleep 100' &); sleep 0.3; echo; sleep 100"));
    QCOMPARE(result.termination, Termination::BoxLost);
    QCOMPARE(m_init->waitForEnd(5000), 0);
    std::ifstream in(file);
    const std::string text((std::istreambuf_iterator<char>(in)), {});
    QCOMPARE(pidsIn(text).size(), 1U);
    QVERIFY(allGone(pidsIn(text)));
}

void TestBoxEnds::outputBeforeTheTimeoutIsKept()
{
    Command command = shell("head -c 500000 /dev/zero; echo end >&2; sleep 100");
    command.limits.wall = std::chrono::milliseconds(600);
    const auto result = run(command);
    QCOMPARE(result.termination, Termination::Timeout);
    QCOMPARE(result.out.totalBytes, 500'000U);
    QCOMPARE(m_sink.err, "end\n");
}

QTEST_GUILESS_MAIN(TestBoxEnds)
#include "tst_box_ends.moc"
