// SPDX-License-Identifier: Apache-2.0
#include "server/audit/ledger_table.h"
#include "server/audit/row_entry.h"
#include "tests/integration/runs/run_world.h"
#include "tests/support/test_support.h"

#include <algorithm>
#include <thread>

using namespace assay;
using test::RunWorld;

/// What the audit ledger holds of runs and their commands, with real boxes.
class TestRunLedger : public QObject
{
    Q_OBJECT

private slots:
    void init();
    void cleanup() { m_world.reset(); }
    void aOneShotRunIsThreeRows();
    void everyCommandOfASessionHasItsReservationAndItsEnd();
    void whatWasEndedIsTerminated();
    void cancelIsADecision();
    void aCancelThatComesTooLateIsNoDecision();
    void aStopIsTheServersDecision();
    void whatMayNotRunIsRefused();
    void whatIsRefusedAfterItsAcceptanceSaysSo();
    void commandTextAndOutputNeverGetIn();
    void withoutAReservationNothingRuns();
    void manyRunsAtOnceMakeOneChain();

private:
    std::vector<audit::Row> rows(const auth::Identity& by = RunWorld::someone())
    {
        return m_world->database()
            .read([&](store::Connection& connection) {
                return audit::LedgerTable(connection).after(by.scopeFingerprint, 0, 10'000);
            })
            .value();
    }
    std::string summary()
    {
        std::string out;
        for (const audit::Row& row : rows())
            out += row.operation + " " + row.decision +
                   (row.reservation ? " of " + std::to_string(*row.reservation) : std::string()) + "\n";
        return out;
    }
    std::string startSession()
    {
        contract::StartRun request;
        request.session = true;
        const auto run = m_world->runs().start(RunWorld::someone(), request);
        return run ? run->id : std::string();
    }
    Result<contract::CommandResult> command(const std::string& run, std::vector<std::string> argv, std::string cwd = {},
                                            std::optional<std::uint64_t> timeoutMs = {})
    {
        contract::StartCommand request;
        request.argv = std::move(argv);
        request.cwd = std::move(cwd);
        request.timeoutMs = timeoutMs;
        request.waitMs = 20'000;
        return m_world->runs().startCommand(RunWorld::someone(), run, request);
    }
    std::unique_ptr<RunWorld> m_world;
};

void TestRunLedger::init()
{
    m_world = std::make_unique<RunWorld>();
    const auto why = m_world->unavailable();
    QVERIFY2(why.empty(), ("no boxes on this machine: " + why).c_str());
}

void TestRunLedger::aOneShotRunIsThreeRows()
{
    const auto run = m_world->runArgv({"bash", "-c", "exit 7"});
    ASSAY_OK(run);
    QCOMPARE(summary(), "run.start allowed\ncommand.execute allowed\ncommand.execute executed of 2\n");
    const auto all = rows();
    QCOMPARE(all[0].resource, run->id);
    QCOMPARE(all[0].actor, "tester");
    QCOMPARE(all[0].authSource, "ingress");
    QCOMPARE(all[1].resource, run->commands.front().id);
    QCOMPARE(all[1].run, run->id);
    QCOMPARE(all[1].metadata.baseDigest, "host");
    const audit::Metadata& end = all[2].metadata;
    QCOMPARE(end.exitCode.value(), 7);
    QCOMPARE(end.termination, "exited");
    QCOMPARE(end.cwd, "/workspace");
    QCOMPARE(end.egressMode, "none");
    QCOMPARE(end.egressTotalBytes.value(), 0);
    QVERIFY(end.wallMs && end.workspaceKib);
}

void TestRunLedger::everyCommandOfASessionHasItsReservationAndItsEnd()
{
    const std::string run = startSession();
    ASSAY_OK(command(run, {"true"}));
    QCOMPARE(rows().size(), 3U); // answered, so its end stands there
    ASSAY_OK(command(run, {"no-such-program"}));
    ASSAY_OK(command(run, {"pwd"}, "/workspace/out"));
    ASSAY_OK(command(run, {"bash", "-c", "kill -9 $$"}, "/tmp"));
    const auto all = rows();
    QCOMPARE(summary(), "run.start allowed\n"
                        "command.execute allowed\ncommand.execute executed of 2\n"
                        "command.execute allowed\ncommand.execute refused of 4\n"
                        "command.execute allowed\ncommand.execute executed of 6\n"
                        "command.execute allowed\ncommand.execute executed of 8\n");
    QCOMPARE(all[4].metadata.reason, "not_started");
    QCOMPARE(all[6].metadata.cwd, "/workspace/out");
    QCOMPARE(all[8].metadata.cwd, "/tmp");
    QCOMPARE(all[8].metadata.termination, "signalled");
    ASSAY_OK(m_world->runs().finish(RunWorld::someone(), run));
    QCOMPARE(rows().size(), 9U);
}

void TestRunLedger::whatWasEndedIsTerminated()
{
    const std::string run = startSession();
    const auto result = command(run, {"sleep", "60"}, {}, 200);
    ASSAY_OK(result);
    QCOMPARE(result->termination, "timeout");
    QCOMPARE(rows().back().decision, "terminated");
    QCOMPARE(rows().back().metadata.termination, "timeout");
}

void TestRunLedger::cancelIsADecision()
{
    const std::string run = startSession();
    contract::StartCommand request;
    request.argv = {"sleep", "60"};
    for (int i = 0; i < 2; ++i)
        ASSAY_OK(m_world->runs().startCommand(RunWorld::someone(), run, request));
    while (m_world->runs().find(RunWorld::someone(), run)->commands.front().state != "running")
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    // "running" is said before the broker is asked; one that is cancelled in between is refused, and rightly so.
    std::this_thread::sleep_for(std::chrono::milliseconds(700));
    ASSAY_OK(m_world->runs().cancel(RunWorld::someone(), run));
    ASSAY_OK(m_world->runs().cancel(RunWorld::someone(), run));
    QVERIFY(m_world->becomesIdle());
    const std::string all = summary();
    QCOMPARE(all.find("run.cancel allowed"), all.rfind("run.cancel allowed"));
    QVERIFY2(all.contains("command.execute terminated of 2\n"), all.c_str());
    QVERIFY2(all.contains("command.execute refused of 3\n"), all.c_str());
}

void TestRunLedger::whatMayNotRunIsRefused()
{
    contract::StartRun request;
    request.skills = {"nowhere"};
    ASSAY_FAILS(m_world->runArgv({"true"}, request), ErrorCode::Refused);
    QCOMPARE(summary(), "run.start refused\n");
    QCOMPARE(rows().back().metadata.reason, "skill_not_found");
}

void TestRunLedger::aCancelThatComesTooLateIsNoDecision()
{
    for (int i = 0; i < 20; ++i) {
        contract::StartRun request;
        request.command = contract::RunCommand{};
        request.command->argv = {"true"};
        const auto started = m_world->runs().start(RunWorld::someone(), request);
        ASSAY_OK(started);
        std::this_thread::sleep_for(std::chrono::milliseconds(2 * i));
        const auto run = m_world->runs().cancel(RunWorld::someone(), started->id);
        ASSAY_OK(run);
        const auto all = rows();
        const bool decided = std::ranges::any_of(
            all, [&](const audit::Row& row) { return row.operation == "run.cancel" && row.resource == run->id; });
        QCOMPARE(decided, run->state == "cancelled");
    }
}

void TestRunLedger::aStopIsTheServersDecision()
{
    const auto them = RunWorld::someone("sc_00000000000000000000000000000002");
    const std::map<std::string, std::string> files{{"SKILL.md", test::skillMd("demo")}};
    m_world->publish("demo", files);
    m_world->publish("demo", files, them);
    contract::StartRun session;
    session.session = true;
    session.skills = {"demo"};
    const auto mine = m_world->runs().start(RunWorld::someone(), session);
    const auto theirs = m_world->runs().start(them, session);
    const std::string digest = m_world->skills().find(them, "demo")->digest;
    QCOMPARE(m_world->runs().stopPinned({{}, {}, digest}), 2U);
    QCOMPARE(m_world->runs().stopPinned({{}, {}, digest}), 0U);
    const auto check = [&](const std::vector<audit::Row>& all, const std::string& run) {
        const auto isCancel = [](const audit::Row& row) { return row.operation == "run.cancel"; };
        QCOMPARE(std::ranges::count_if(all, isCancel), 1);
        const audit::Row& row = *std::ranges::find_if(all, isCancel);
        QCOMPARE(row.decision, "allowed");
        QCOMPARE(row.actor, "server");
        QCOMPARE(row.resource, run);
        QCOMPARE(row.run, run);
        QCOMPARE(row.metadata.reason, "revision_stopped");
    };
    check(rows(), mine->id);
    check(rows(them), theirs->id);
}

void TestRunLedger::whatIsRefusedAfterItsAcceptanceSaysSo()
{
    m_world->publish("demo", {{"SKILL.md", test::skillMd("demo")}});
    const auto digest = Digest::parse(m_world->skills().find(RunWorld::someone(), "demo")->digest).value();
    ASSAY_OK(m_world->packages().remove(RunWorld::someone().scopeFingerprint, digest));
    contract::StartRun request;
    request.skills = {"demo"};
    const auto refused = m_world->runArgv({"true"}, request);
    ASSAY_FAILS(refused, ErrorCode::Refused);
    const auto all = rows();
    const auto row = std::ranges::find_if(
        all, [](const audit::Row& each) { return each.operation == "run.start" && each.decision == "refused"; });
    QVERIFY(row != all.end());
    QCOMPARE(row->actor, "tester");
    QCOMPARE(row->metadata.reason, refused.error().reason);
    QCOMPARE("/v1/runs/" + row->resource, refused.error().problems.front().pointer);
}

void TestRunLedger::commandTextAndOutputNeverGetIn()
{
    const std::string run = startSession();
    contract::StartCommand request;
    request.argv = {"bash", "-c", "echo s3cr3t-output; : s3cr3t-argument; curl evil.example.com"};
    request.env = {{"S3CR3T", "s3cr3t-environment"}};
    request.stdinText = "s3cr3t-input";
    request.cwd = "/tmp";
    request.waitMs = 20'000;
    ASSAY_OK(m_world->runs().startCommand(RunWorld::someone(), run, request));
    for (const audit::Row& row : rows()) {
        const std::string text = json::serialize(contract::toJson(audit::entryOf(row)));
        QVERIFY2(!text.contains("s3cr3t") && !text.contains("evil") && !text.contains("bash"), text.c_str());
    }
}

void TestRunLedger::withoutAReservationNothingRuns()
{
    const std::string run = startSession();
    ASSAY_OK(command(run, {"true"}));
    const auto limitPages = [&](const char* pragma) {
        return m_world->database().write([&](store::Connection& connection) { return connection.execute(pragma); });
    };
    // No page more: as if the disk were full.
    ASSAY_OK(limitPages("PRAGMA max_page_count=1"));
    Result<contract::CommandResult> last = command(run, {"true"});
    int accepted = 0;
    for (; last && accepted < 1000; ++accepted)
        last = command(run, {"touch", "/workspace/out/" + std::to_string(accepted)});
    ASSAY_FAILS(last, ErrorCode::Unavailable);
    QVERIFY2(last.error().message.contains("disk is full"), last.error().message.c_str());
    const auto refusedRun = m_world->runArgv({"true"});
    ASSAY_FAILS(refusedRun, ErrorCode::Unavailable);

    ASSAY_OK(limitPages("PRAGMA max_page_count=1000000"));
    const auto listing = command(run, {"bash", "-c", "ls /workspace/out | wc -l"});
    ASSAY_OK(listing);
    // The one that was refused left no trace in the box, and every other one has its reservation.
    const std::size_t made = accepted > 0 ? static_cast<std::size_t>(accepted - 1) : 0;
    QCOMPARE(listing->stdoutBytes, std::to_string(made) + "\n");
    ASSAY_OK(m_world->runs().finish(RunWorld::someone(), run));
    QVERIFY(m_world->becomesIdle());
    std::size_t reserved = 0;
    std::size_t ended = 0;
    for (const audit::Row& row : rows()) {
        reserved += row.operation == "command.execute" && row.decision == "allowed";
        ended += row.reservation.has_value();
    }
    QCOMPARE(ended, reserved);
}

void TestRunLedger::manyRunsAtOnceMakeOneChain()
{
    constexpr int kClients = 8;
    constexpr int kEach = 4;
    {
        std::vector<std::jthread> clients;
        for (int i = 0; i < kClients; ++i)
            clients.emplace_back([&] {
                for (int n = 0; n < kEach; ++n)
                    (void)m_world->runArgv({"true"});
            });
    }
    const auto all = rows();
    QCOMPARE(all.size(), std::size_t{3 * kClients * kEach});
    Digest previous = audit::genesisOf(RunWorld::someone().scopeFingerprint);
    for (const audit::Row& row : all) {
        QVERIFY(row.previous == previous && row.hash == audit::hashOf(row));
        previous = row.hash;
    }
}

QTEST_GUILESS_MAIN(TestRunLedger)
#include "tst_run_ledger.moc"
