// SPDX-License-Identifier: Apache-2.0
#include "tests/integration/runs/run_world.h"
#include "tests/support/test_support.h"

#include <csignal>
#include <filesystem>
#include <fstream>

using namespace assay;
using test::RunWorld;

/// Every cause of death through the whole service, with the real driver and init.
class TestRunEndings : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase();
    void exitStatus();
    void signal();
    void timeoutWithGrandchildrenAndAnEscapee();
    void memory();
    void processes();
    void diskQuota();
    void outputCapTruncates();
    void outputCapTerminates();
    void cancel();
    void aProgramThatIsNotThere();
    void nothingIsLeftBehind();

private:
    Result<contract::Run> shell(const std::string& text, std::optional<contract::RunLimits> limits = {})
    {
        contract::StartRun request;
        request.limits = std::move(limits);
        return m_world->runArgv({"bash", "-c", text}, std::move(request));
    }
    std::unique_ptr<RunWorld> m_world;
};

namespace {

/// Processes of the machine with exactly these arguments, each ended by NUL.
int processesWith(const std::string& arguments)
{
    int found = 0;
    for (const auto& process : std::filesystem::directory_iterator("/proc")) {
        std::ifstream file(process.path() / "cmdline", std::ios::binary);
        found += std::string(std::istreambuf_iterator<char>(file), {}) == arguments;
    }
    return found;
}

} // namespace

void TestRunEndings::initTestCase()
{
    m_world = std::make_unique<RunWorld>();
    const auto why = m_world->unavailable();
    QVERIFY2(why.empty(), ("no boxes on this machine: " + why).c_str());
}

void TestRunEndings::exitStatus()
{
    const auto run = shell("echo out; echo err >&2; exit 7");
    ASSAY_OK(run);
    QCOMPARE(run->state, "failed");
    QCOMPARE(run->termination, "exited");
    QCOMPARE(run->reason, "exit_status");
    QCOMPARE(run->commands.at(0).exitCode, 7);
    QVERIFY(!run->commands.at(0).signal);
    QCOMPARE(run->commands.at(0).stderrBytes, "err\n");
}

void TestRunEndings::signal()
{
    const auto run = shell("kill -SEGV $$");
    ASSAY_OK(run);
    QCOMPARE(run->termination, "signalled");
    QCOMPARE(run->commands.at(0).signal, SIGSEGV);
    QVERIFY(!run->commands.at(0).exitCode);
}

void TestRunEndings::timeoutWithGrandchildrenAndAnEscapee()
{
    contract::RunLimits limits;
    limits.wallMs = 400;
    const auto begin = std::chrono::steady_clock::now();
    const auto run =
        shell("setsid sleep 1000 & (sleep 1000 & sleep 1000) & trap '' TERM INT; sleep 1000; sleep 1000", limits);
    ASSAY_OK(run);
    QCOMPARE(run->state, "failed");
    QCOMPARE(run->termination, "timeout");
    QVERIFY(std::chrono::steady_clock::now() - begin < std::chrono::seconds(8));
}

void TestRunEndings::memory()
{
    contract::RunLimits limits;
    limits.memoryBytes = 64ULL << 20;
    const auto run =
        shell("exec python3 -c \"a = bytearray(400 << 20)\nfor i in range(0, len(a), 4096): a[i] = 1\"", limits);
    ASSAY_OK(run);
    QCOMPARE(run->state, "failed");
    QCOMPARE(run->termination, "memory_exceeded");
}

void TestRunEndings::processes()
{
    contract::RunLimits limits;
    limits.pids = 16;
    const auto run = shell("for i in $(seq 40); do sleep 5 & done; wait; exit 1", limits);
    ASSAY_OK(run);
    QCOMPARE(run->state, "failed");
    QCOMPARE(run->termination, "pids_exceeded");
}

void TestRunEndings::diskQuota()
{
    contract::RunLimits limits;
    limits.workspaceBytes = 4ULL << 20;
    const auto run = shell("head -c 20000000 /dev/zero > big", limits);
    ASSAY_OK(run);
    QCOMPARE(run->state, "failed");
    QCOMPARE(run->termination, "disk_quota_exceeded");
}

void TestRunEndings::outputCapTruncates()
{
    contract::RunLimits limits;
    limits.outputBytes = 4096;
    const auto run = shell("head -c 1000000 /dev/zero | tr '\\0' a; echo end", limits);
    ASSAY_OK(run);
    QCOMPARE(run->state, "succeeded");
    const auto& command = run->commands.at(0);
    QCOMPARE(command.stdoutTotal, 1'000'004U);
    QCOMPARE(command.stdoutBytes.size(), 4096U);
    QCOMPARE(command.droppedBytes, 1'000'004U - 4096U);
    QVERIFY(command.stdoutBytes.ends_with("aend\n"));
}

void TestRunEndings::outputCapTerminates()
{
    contract::RunLimits limits;
    limits.outputBytes = 4096;
    limits.outputMode = "terminate";
    const auto run = shell("yes", limits);
    ASSAY_OK(run);
    QCOMPARE(run->state, "failed");
    QCOMPARE(run->termination, "output_cap_exceeded");
}

void TestRunEndings::cancel()
{
    contract::StartRun request;
    request.waitMs = 200;
    const auto run = m_world->runArgv({"sleep", "1000"}, request);
    ASSAY_OK(run);
    const auto cancelled = m_world->runs().cancel(RunWorld::someone(), run->id);
    ASSAY_OK(cancelled);
    QCOMPARE(cancelled->state, "cancelled");
    QCOMPARE(cancelled->termination, "cancelled");
}

void TestRunEndings::aProgramThatIsNotThere()
{
    const auto run = m_world->runArgv({"no-such-program"});
    ASSAY_OK(run);
    QCOMPARE(run->state, "failed");
    QCOMPARE(run->termination, "not_started");
    QVERIFY(run->message.contains("no-such-program"));
}

void TestRunEndings::nothingIsLeftBehind()
{
    ASSAY_OK(shell("setsid sleep 4321 & echo started"));
    QCOMPARE(processesWith(std::string("sleep\0004321\0", 11)), 0);
    QVERIFY(m_world->becomesIdle());
}

QTEST_GUILESS_MAIN(TestRunEndings)
#include "tst_run_endings.moc"
