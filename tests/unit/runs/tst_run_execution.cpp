// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/runs/execution_fixture.h"

using namespace assay;
using namespace assay::runs;

class TestRunExecution : public QObject, private test::ExecutionFixture
{
    Q_OBJECT

private slots:
    void init() { setUp(); }
    void cleanup() { m_world.reset(); }
    void runsAScriptInOrder();
    void aFailingScriptFailsAndIsCollected();
    void tellsTheCauseOfDeath_data();
    void tellsTheCauseOfDeath();
    void aMismatchExecutesNothingAndDropsTheTree();
    void aBoxThatCannotBeMadeRefuses();
    void aMissingPackageRefusesBeforeAnyBox();
    void aLostBoxFailsWithoutCollecting();
    void aProgramThatIsNotThereIsNotStarted();
    void cancelEndsARunningCommand();
    void cancelBeforeTheBoxMakesNone();
    void keepsArtifactsAndRefusedOutputs();
    void aFullArtifactStoreFailsTheRun();
    void aSessionRunsCommandsUntilItIsFinished();
    void anIdleSessionIsClosed();
    void aBusySessionIsNotClosed();
    void commandsOfASessionAreStoredWhileItIsIdle();
    void commandsThatNeverStartedEndWithTheRun();
    void aFailedTeardownIsReported();
    void isMeasured();
    void anEndThatCannotBeStoredIsTriedAgain();
    void anEndThatIsNotStoredIsNoSuccess();
    void aDecidedEndTakesNoCommandsAndNoCancel();
};

namespace {

std::string phasesOf(const contract::Run& run)
{
    std::string out;
    for (const auto& phase : run.phases)
        out += phase.name + (phase.endedAt ? " " : "! ");
    return out;
}

} // namespace

void TestRunExecution::runsAScriptInOrder()
{
    auto planned = plan();
    planned.files = {{"in.txt", "text"}};
    use(planned);
    m_world->box.output = "done\n";
    m_world->execute();
    QCOMPARE(m_world->box.joined(), "create verify put run collect kill destroy gone ");
    const auto& command = m_world->box.commands.at(0);
    QCOMPARE(command.argv, (std::vector<std::string>{"python3", "-E", "-s", "/skills/demo/run.py", "a"}));
    QCOMPARE(command.stdinBytes, "{}\n");
    QCOMPARE(command.env.at(0).second, "v");
    QCOMPARE(m_world->box.placed.at("in.txt"), "text");
    QCOMPARE(m_world->box.spec.id, "run_01arz3ndektsv4rrffq69g5fav");
    const auto run = m_world->run->snapshot();
    QCOMPARE(run.state, "succeeded");
    QCOMPARE(run.termination, "exited");
    QCOMPARE(phasesOf(run), "queued pinned provisioning materializing running collecting ");
    QCOMPARE(run.commands.at(0).stdoutBytes, "done\n");
    QCOMPARE(run.usage->workspaceBytes, 7U);
    QCOMPARE(run.usage->limitsEnforcement, "hard");
    QCOMPARE(m_world->records.ended.state, "succeeded");
    QCOMPARE(m_world->records.commands.size(), 1U);
    QVERIFY(m_world->records.events.contains("\"data_base64\":\"ZG9uZQo=\""));
    QVERIFY(m_world->records.events.ends_with("end {\"state\":\"succeeded\",\"termination\":\"exited\"}\n"));
}

void TestRunExecution::aFailingScriptFailsAndIsCollected()
{
    m_world->box.result = test::exited(3);
    m_world->box.files = {{"partial.txt", "x"}};
    m_world->execute();
    const auto run = m_world->run->snapshot();
    QCOMPARE(run.state, "failed");
    QCOMPARE(run.termination, "exited");
    QCOMPARE(run.reason, "exit_status");
    QVERIFY(run.message.contains("3"));
    QCOMPARE(run.artifacts.size(), 1U);
}

void TestRunExecution::tellsTheCauseOfDeath_data()
{
    QTest::addColumn<int>("termination");
    QTest::addColumn<QString>("word");
    using enum sandbox::Termination;
    for (const auto& [termination, word] : {std::pair{Timeout, "timeout"},
                                            {DiskQuotaExceeded, "disk_quota_exceeded"},
                                            {OutputCapExceeded, "output_cap_exceeded"},
                                            {MemoryExceeded, "memory_exceeded"},
                                            {PidsExceeded, "pids_exceeded"},
                                            {Signalled, "signalled"},
                                            {BoxLost, "box_lost"}})
        QTest::newRow(word) << static_cast<int>(termination) << word;
}

void TestRunExecution::tellsTheCauseOfDeath()
{
    QFETCH(int, termination);
    QFETCH(QString, word);
    m_world->box.result.termination = static_cast<sandbox::Termination>(termination);
    m_world->box.result.exitCode.reset();
    m_world->execute();
    const auto run = m_world->run->snapshot();
    QCOMPARE(run.state, "failed");
    QCOMPARE(QString::fromStdString(run.termination), word);
    QCOMPARE(QString::fromStdString(run.reason), word);
    QCOMPARE(QString::fromStdString(run.commands.at(0).termination), word);
    QVERIFY(!run.message.empty());
}

void TestRunExecution::aMismatchExecutesNothingAndDropsTheTree()
{
    m_world->box.verifyError = refuse("digest_mismatch", "run.py differs").error();
    m_world->execute();
    QCOMPARE(m_world->box.joined(), "create verify kill destroy gone ");
    const auto run = m_world->run->snapshot();
    QCOMPARE(run.state, "refused");
    QCOMPARE(run.reason, "digest_mismatch");
    QVERIFY(run.commands.empty());
    QCOMPARE(m_world->cache->counts().trees, 0U);
}

void TestRunExecution::aBoxThatCannotBeMadeRefuses()
{
    m_world->box.createError = fail(ErrorCode::Internal, "no namespaces").error();
    m_world->execute();
    auto run = m_world->run->snapshot();
    QCOMPARE(run.state, "refused");
    QCOMPARE(run.reason, "driver_unavailable");
    QVERIFY(run.message.contains("no namespaces"));
    QCOMPARE(m_world->box.joined(), "create ");
}

void TestRunExecution::aMissingPackageRefusesBeforeAnyBox()
{
    m_world->catalog.package = nullptr;
    m_world->execute();
    QCOMPARE(m_world->run->snapshot().reason, "digest_mismatch");
    QCOMPARE(m_world->box.joined(), "");
}

void TestRunExecution::aLostBoxFailsWithoutCollecting()
{
    m_world->box.runError = fail(ErrorCode::Unavailable, "the channel closed").error();
    m_world->execute();
    const auto run = m_world->run->snapshot();
    QCOMPARE(run.state, "failed");
    QCOMPARE(run.termination, "box_lost");
    QCOMPARE(run.commands.at(0).termination, "box_lost");
    QCOMPARE(m_world->box.joined(), "create verify run kill destroy gone ");
}

void TestRunExecution::aProgramThatIsNotThereIsNotStarted()
{
    m_world->box.runError = fail(ErrorCode::NotFound, "there is no program x").error();
    m_world->execute();
    auto run = m_world->run->snapshot();
    QCOMPARE(run.state, "failed");
    QCOMPARE(run.termination, "not_started");
    QCOMPARE(run.message, "there is no program x");
    QCOMPARE(run.commands.at(0).termination, "not_started");
    QVERIFY(!run.commands.at(0).exitCode);
    use(plan(true));
    ASSAY_OK(add({"x"}));
    ASSAY_OK(add({"x"}));
    m_world->run->finish();
    m_world->execute();
    run = m_world->run->snapshot();
    QCOMPARE(run.state, "succeeded");
    QCOMPARE(run.commands.size(), 2U);
    QCOMPARE(run.commands.at(1).termination, "not_started");
}

void TestRunExecution::cancelEndsARunningCommand()
{
    m_world->box.blockUntilCancelled = true;
    std::jthread canceller([this] {
        while (!m_world->box.running)
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        m_world->run->cancel("cancelled");
    });
    m_world->execute();
    const auto run = m_world->run->snapshot();
    QCOMPARE(run.state, "cancelled");
    QCOMPARE(run.termination, "cancelled");
    QCOMPARE(run.commands.at(0).termination, "cancelled");
    QVERIFY(!m_world->box.joined().contains("collect"));
}

void TestRunExecution::cancelBeforeTheBoxMakesNone()
{
    m_world->run->cancel("cancelled");
    m_world->execute();
    QCOMPARE(m_world->run->snapshot().state, "cancelled");
    QCOMPARE(m_world->box.joined(), "");
}

void TestRunExecution::keepsArtifactsAndRefusedOutputs()
{
    m_world->box.files = {{"a.json", "{}"}, {"../evil", "x"}, {"bin", std::string("\0\xff", 2)}};
    m_world->box.refused = {{"link", "not_a_regular_file"}};
    m_world->execute();
    const auto run = m_world->run->snapshot();
    QCOMPARE(run.artifacts.size(), 2U);
    QCOMPARE(run.artifacts[0].path, "a.json");
    QCOMPARE(run.artifacts[0].mediaType, "application/json");
    QCOMPARE(run.artifacts[0].sha256, Digest::ofBytes("{}").text());
    QCOMPARE(run.rejectedOutputs.size(), 2U);
    QCOMPARE(run.rejectedOutputs[0].reason, "unsafe_path");
    QCOMPARE(run.rejectedOutputs[1].reason, "not_a_regular_file");
    QCOMPARE(m_world->records.artifacts.size(), 2U);
    QCOMPARE((m_world->artifacts.objects[{test::kScopeA, Digest::ofBytes("{}")}]), "{}");
}

void TestRunExecution::aFullArtifactStoreFailsTheRun()
{
    m_world->artifacts.full = true;
    m_world->box.files = {{"a.json", "{}"}};
    m_world->execute();
    const auto run = m_world->run->snapshot();
    QCOMPARE(run.state, "failed");
    QCOMPARE(run.reason, "collection_failed");
    QVERIFY(run.message.contains("full"));
    QCOMPARE(m_world->reports.size(), 1U);
}

void TestRunExecution::aSessionRunsCommandsUntilItIsFinished()
{
    use(plan(true));
    m_world->box.output = "hi";
    std::jthread client([this] {
        auto& run = *m_world->run;
        const auto soon = [] { return std::chrono::steady_clock::now() + std::chrono::seconds(10); };
        for (int i = 0; i < 3; ++i)
            (void)run.waitCommand(add({"true"}).value(), soon());
        run.finish();
        (void)add({"late"});
    });
    m_world->execute();
    client.join();
    const auto run = m_world->run->snapshot();
    QCOMPARE(run.state, "succeeded");
    QCOMPARE(run.commands.size(), 3U);
    QCOMPARE(m_world->box.commands.size(), 3U);
    QCOMPARE(m_world->records.put + m_world->records.commands.size(), 3U);
    QVERIFY(m_world->box.joined().ends_with("run collect kill destroy gone "));
    ASSAY_FAILS(add({}), ErrorCode::Conflict);
}

void TestRunExecution::anIdleSessionIsClosed()
{
    use(plan(true));
    m_world->parts.sessionIdle = std::chrono::milliseconds(30);
    m_world->execute();
    const auto run = m_world->run->snapshot();
    QCOMPARE(run.state, "succeeded");
    QCOMPARE(run.reason, "idle");
    QVERIFY(m_world->box.joined().contains("collect"));
}

void TestRunExecution::aBusySessionIsNotClosed()
{
    use(plan(true));
    m_world->parts.sessionIdle = std::chrono::milliseconds(20);
    m_world->box.blockUntilCancelled = true;
    ASSAY_OK(add({"sleep"}));
    std::jthread client([this] {
        std::this_thread::sleep_for(std::chrono::milliseconds(120));
        m_world->run->cancel("cancelled");
    });
    m_world->execute();
    QCOMPARE(m_world->run->snapshot().reason, "cancelled"); // not "idle"
}

void TestRunExecution::commandsOfASessionAreStoredWhileItIsIdle()
{
    use(plan(true));
    m_world->box.output = "hi";
    std::string id;
    std::jthread client([&] {
        auto& run = *m_world->run;
        id = add({"true"}).value();
        for (int i = 0; i < 2000 && m_world->records.put == 0; ++i)
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        run.finish();
    });
    m_world->execute();
    client.join();
    QCOMPARE(m_world->records.put.load(), 1U);
    QVERIFY(m_world->run->command(id)->stored);
    QVERIFY(m_world->run->command(id)->row.out.head.empty());
    QVERIFY(m_world->records.commands.empty()); // not stored twice
}

void TestRunExecution::commandsThatNeverStartedEndWithTheRun()
{
    use(plan(true));
    m_world->box.blockUntilCancelled = true;
    ASSAY_OK(add({"one"}));
    const auto waiting = add({"two"});
    ASSAY_OK(waiting);
    std::jthread client([this] {
        while (!m_world->box.running)
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        m_world->run->cancel("cancelled");
    });
    m_world->execute();
    QCOMPARE(m_world->run->command(*waiting)->row.state, "ended");
    QCOMPARE(m_world->run->command(*waiting)->row.termination, "cancelled");
    QCOMPARE(m_world->records.commands.size(), 2U);
    QCOMPARE(m_world->box.commands.size(), 1U);
}

void TestRunExecution::aFailedTeardownIsReported()
{
    m_world->box.destroyError = fail(ErrorCode::Internal, "a cgroup is left").error();
    m_world->execute();
    QCOMPARE(m_world->reports, std::vector<std::string>{"a cgroup is left"});
    QCOMPARE(m_world->run->snapshot().state, "succeeded");
}

void TestRunExecution::isMeasured()
{
    m_world->execute();
    use(plan());
    m_world->execute();
    m_world->box.verifyError = refuse("digest_mismatch", "x").error();
    use(plan());
    m_world->execute();
    m_world->box.destroyError = assay::fail(ErrorCode::Internal, "x").error();
    use(plan());
    m_world->execute();
    auto& counts = m_world->metrics.counts;
    QCOMPARE(m_world->metrics.misses, 2U); // the first, and after the mismatch
    QCOMPARE(m_world->metrics.hits, 2U);
    QCOMPARE(m_world->metrics.backends.size(), 1U);
    QCOMPARE(m_world->metrics.states, (std::vector<std::string>{"succeeded", "succeeded", "refused", "refused"}));
    QVERIFY(std::ranges::all_of(m_world->metrics.terminations, [](const auto& word) { return word == "exited"; }));
    QCOMPARE(counts[Count::BoxStarted], 4U);
    QCOMPARE(counts[Count::DigestMismatch], 2U);
    QCOMPARE(counts[Count::BoxRemoved], 3U);
    QCOMPARE(counts[Count::CleanupFailed], 1U);
    QCOMPARE(m_world->metrics.materializedBytes, (std::vector<std::uint64_t>{8, 0}));
}

void TestRunExecution::anEndThatCannotBeStoredIsTriedAgain()
{
    m_world->records.failures = 1;
    m_world->execute();
    QCOMPARE(m_world->records.ended.state, "succeeded");
    QVERIFY(m_world->reports.empty());
}

void TestRunExecution::anEndThatIsNotStoredIsNoSuccess()
{
    m_world->records.failures = 1000;
    m_world->parts.storePatience = std::chrono::milliseconds(1000);
    m_world->execute();
    QVERIFY(m_world->records.failures <= 998);
    const auto run = m_world->run->snapshot();
    QCOMPARE(run.state, "failed");
    QCOMPARE(run.reason, "not_stored");
    QVERIFY(run.message.contains("disk is full"));
    QCOMPARE(m_world->reports.size(), 1U);
    // A stopping server waits for no disk.
    const std::atomic<bool> stopping{true};
    m_world->parts.stopping = &stopping;
    m_world->parts.storePatience = std::chrono::hours(1);
    use(plan());
    m_world->execute();
    QCOMPARE(m_world->run->snapshot().reason, "not_stored");
}

void TestRunExecution::aDecidedEndTakesNoCommandsAndNoCancel()
{
    use(plan(true));
    m_world->parts.sessionIdle = std::chrono::milliseconds(10);
    Result<std::string> late;
    bool cancelled = true;
    m_world->box.onCollect = [&] {
        late = add({"late"});
        cancelled = m_world->run->cancel("cancelled");
    };
    m_world->execute();
    ASSAY_FAILS(late, ErrorCode::Conflict);
    QVERIFY(!cancelled);
    QCOMPARE(m_world->run->snapshot().reason, "idle");
    // A failed preparation is an end like any other; only a cancel before it counts.
    use(plan(true));
    m_world->box.onCollect = {};
    QVERIFY(m_world->run->closeIfIdle());
    ASSAY_FAILS(add({"late"}), ErrorCode::Conflict);
    use(plan(true));
    QVERIFY(m_world->run->takeUnstarted().empty());
    ASSAY_FAILS(add({"late"}), ErrorCode::Conflict);
    use(plan(true));
    ASSAY_OK(add({"early"}));
    QVERIFY(!m_world->run->closeIfIdle());
    QVERIFY(m_world->run->cancel("cancelled"));
    QVERIFY(!m_world->run->cancel("server_stopping"));
    QVERIFY(!m_world->run->close());
}

QTEST_APPLESS_MAIN(TestRunExecution)
#include "tst_run_execution.moc"
