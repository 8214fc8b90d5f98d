// SPDX-License-Identifier: Apache-2.0
#include "server/core/ids.h"
#include "server/core/json.h"
#include "server/runs/run_execution.h"
#include "tests/support/audit_records.h"
#include "tests/unit/runs/counting_metrics.h"
#include "tests/unit/runs/fake_box.h"
#include "tests/unit/runs/package_fixture.h"

#include <QTemporaryDir>
#include <thread>

using namespace assay;
using namespace assay::runs;

class TestRunExecution : public QObject
{
    Q_OBJECT

private slots:
    void init();
    void cleanup();
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
    void theEndOfARunsCommandRidesWithTheRunsEnd();
    void aSessionsCommandEndsInTheLedgerBeforeItIsAnswered();
    void whatNeverStartedIsRefusedInTheLedger();
    void aForgedExpiredForeignOrReplayedSessionExecutesNothing();
    void aCancelledRunExecutesNothingThatWaited();

private:
    struct Records final : RunJournal
    {
        Result<void> putCommands(const RunPlan&, const std::vector<store::CommandRow>& rows) override
        {
            put += rows.size();
            return {};
        }
        Result<void> end(const LiveRun& run, const std::vector<store::CommandRow>& rows,
                         const std::vector<store::ArtifactRow>& artifactRows, std::string_view text,
                         const std::vector<CommandEnding>& ends) override
        {
            if (failures-- > 0)
                return fail(ErrorCode::Unavailable, "the disk is full");
            ended = run.ending();
            commands = rows;
            artifacts = artifactRows;
            events = text;
            endings.insert(endings.end(), ends.begin(), ends.end());
            return {};
        }
        Result<void> complete(const std::vector<CommandEnding>& ends) override
        {
            if (completeFails)
                return fail(ErrorCode::Unavailable, "the disk is full");
            endings.insert(endings.end(), ends.begin(), ends.end());
            return {};
        }
        Result<void> note(const audit::Record& record) override
        {
            noted.push_back(record);
            return {};
        }
        std::vector<CommandEnding> endings;
        std::vector<audit::Record> noted;
        bool completeFails = false;
        std::atomic<std::size_t> put{0};
        int failures = 0;
        contract::Run ended;
        std::vector<store::CommandRow> commands;
        std::vector<store::ArtifactRow> artifacts;
        std::string events;
    };

    struct Catalog final : CatalogPort
    {
        Result<contract::Agent> agent(const auth::Identity&, std::string_view) override
        {
            return fail(ErrorCode::NotFound, "");
        }
        Result<std::vector<registry::PinnedSkill>> pin(std::string_view, const std::vector<std::string>&) override
        {
            return std::vector<registry::PinnedSkill>{};
        }
        Result<store::Bundle> bundle(std::string_view, const Digest&) override
        {
            if (package)
                return package->bundle();
            return refuse("digest_mismatch", "the bundle is damaged");
        }
        const test::PackageFixture* package = nullptr;
    };

    struct World
    {
        QTemporaryDir directory;
        test::FakeClock clock;
        test::FakeDriver driver;
        test::BoxScript box;
        test::MemoryStore artifacts;
        Catalog catalog;
        Records records;
        std::unique_ptr<TreeCache> cache =
            std::move(TreeCache::open({directory.path().toStdString(), 1 << 20}).value());
        Materializer materializer{catalog, *cache};
        Collector collector{artifacts, clock};
        std::vector<std::string> reports;
        test::CountingMetrics metrics;
        std::unique_ptr<SessionSealer> sealer = std::move(SessionSealer::open({}, clock).value());
        ExecutionBroker broker{*sealer, records};
        ExecutionParts parts{materializer,
                             collector,
                             records,
                             broker,
                             [this](sandbox::BoxDriver&, sandbox::BoxSpec spec) -> Result<std::unique_ptr<LiveBox>> {
                                 box.note("create");
                                 box.spec = std::move(spec);
                                 if (box.createError)
                                     return std::unexpected(*box.createError);
                                 return std::make_unique<test::FakeBox>(box);
                             },
                             [this](std::string_view, const Error& error) { reports.push_back(error.message); },
                             std::chrono::milliseconds(10'000),
                             &metrics,
                             {}};
        std::unique_ptr<LiveRun> run;
        void execute() { RunExecution(parts, driver, *run).execute(); }
    };

    RunPlan plan(bool session = false) const;
    void use(RunPlan plan)
    {
        if (plan.command) {
            plan.command->id = test::kCommandId;
            plan.command->carrier = m_world->broker.sealFor(m_by, plan.runId).value();
        }
        m_world->run = std::make_unique<LiveRun>(std::move(plan), "sha256:m", m_world->clock);
        if (m_world->run->plan().command)
            m_world->run->reserveFirst(1);
    }
    /// A command as the service accepts it: its id.
    Result<std::string> add(std::vector<std::string> argv)
    {
        auto carrier = m_world->broker.admit(m_by, *m_world->run);
        if (!carrier)
            return forward(carrier);
        return add(std::move(argv), *carrier);
    }
    Result<std::string> add(std::vector<std::string> argv, std::string carrier)
    {
        const std::string id = newId("cmd_", m_world->clock.now());
        auto added = m_world->run->addCommand({id, {.argv = std::move(argv)}, std::move(carrier), ++m_reserved});
        return added ? Result<std::string>(id) : forward(added);
    }
    std::string endings() const
    {
        std::string out;
        for (const CommandEnding& each : m_world->records.endings)
            out += std::to_string(each.reservation) + ":" + std::string(nameOf(each.record.decision)) + ":" +
                   each.record.metadata.reason + each.record.metadata.termination + " ";
        return out;
    }
    const auth::Identity m_by = test::someone(test::kScopeA);
    std::int64_t m_reserved = 0;
    std::unique_ptr<World> m_world;
};

namespace {

const test::PackageFixture& demo()
{
    static const test::PackageFixture fixture("demo", {{"SKILL.md", "x"}, {"run.py", "print()"}});
    return fixture;
}

std::string phasesOf(const contract::Run& run)
{
    std::string out;
    for (const auto& phase : run.phases)
        out += phase.name + (phase.endedAt ? " " : "! ");
    return out;
}

} // namespace

RunPlan TestRunExecution::plan(bool session) const
{
    RunPlan out;
    out.runId = "run_01ARZ3NDEKTSV4RRFFQ69G5FAV";
    out.scopeFingerprint = test::kScopeA;
    out.skills = {demo().pinned};
    out.storeIdentity = "memory";
    out.driver = "fake";
    out.outputs = {"**"};
    out.session = session;
    if (!session)
        out.command = PlannedCommand{
            .skill = "demo", .script = "run.py", .args = {"a"}, .argv = {}, .env = {{"K", "v"}}, .stdinBytes = "{}\n"};
    return out;
}

void TestRunExecution::init()
{
    m_reserved = 0;
    m_world = std::make_unique<World>();
    m_world->catalog.package = &demo();
    m_world->box.result = test::exited(0);
    use(plan());
}

void TestRunExecution::cleanup() { m_world.reset(); }

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

void TestRunExecution::theEndOfARunsCommandRidesWithTheRunsEnd()
{
    m_world->records.completeFails = true; // nobody asks for it
    m_world->execute();
    QCOMPARE(endings(), "1:executed:exited ");
    const audit::Record& record = m_world->records.endings.front().record;
    QCOMPARE(record.actor, "ann");
    QCOMPARE(record.resource, test::kCommandId);
    QCOMPARE(record.metadata.exitCode.value(), 0);
    QVERIFY(record.metadata.wallMs && record.metadata.workspaceKib);
    QVERIFY(m_world->reports.empty());
}

void TestRunExecution::aSessionsCommandEndsInTheLedgerBeforeItIsAnswered()
{
    use(plan(true));
    ASSAY_OK(add({"one"}));
    const auto second = add({"two"});
    std::string before;
    std::jthread waiter([&] {
        (void)m_world->run->waitCommand(*second, std::chrono::steady_clock::now() + std::chrono::seconds(5));
        before = endings();
        m_world->run->finish();
    });
    m_world->execute();
    waiter.join();
    QCOMPARE(before, "1:executed:exited 2:executed:exited ");
    QCOMPARE(endings(), before);
    // One that cannot be written is not lost: it comes with the next, or with the run's end.
    m_world->records.endings.clear();
    m_world->records.completeFails = true;
    use(plan(true));
    ASSAY_OK(add({"three"}));
    m_world->run->finish();
    m_world->execute();
    QCOMPARE(endings(), "3:executed:exited ");
    QCOMPARE(m_world->reports.size(), 1U);
}

void TestRunExecution::whatNeverStartedIsRefusedInTheLedger()
{
    m_world->box.verifyError = refuse("digest_mismatch", "run.py differs").error();
    m_world->execute();
    QCOMPARE(endings(), "1:refused:digest_mismatch ");
    m_world->records.endings.clear();
    m_world->box.verifyError.reset();
    m_world->box.runError = fail(ErrorCode::NotFound, "no such program").error();
    use(plan());
    m_world->execute();
    QCOMPARE(endings(), "1:refused:not_started ");
}

void TestRunExecution::aForgedExpiredForeignOrReplayedSessionExecutesNothing()
{
    use(plan(true));
    const auto good = m_world->broker.admit(m_by, *m_world->run).value();
    const auto foreign = m_world->broker.sealFor(test::someone(test::kScopeB), m_world->run->plan().runId).value();
    const auto replayed = m_world->broker.sealFor(m_by, "run_01JBBBBBBBBBBBBBBBBBBBBBBB").value();
    std::string forged = good;
    forged[forged.size() / 2] = forged[forged.size() / 2] == 'A' ? 'B' : 'A';
    const std::string truncated = good.substr(0, good.size() - 4);
    for (const std::string& carrier : {std::string(), forged, truncated, foreign, replayed})
        ASSAY_OK(add({"x"}, carrier));
    m_world->run->finish();
    m_world->execute();
    QCOMPARE(endings(), "1:refused:session_invalid 2:refused:session_invalid 3:refused:session_invalid "
                        "4:refused:session_scope 5:refused:session_run ");
    QCOMPARE(m_world->records.noted.size(), 5U);
    for (const audit::Record& record : m_world->records.noted) {
        QVERIFY(record.operation == audit::Operation::SessionOpen && record.decision == audit::Decision::Refused);
        QCOMPARE(record.scopeFingerprint, test::kScopeA);
        QCOMPARE(record.actor, "server"); // what the carrier says is not believed
    }
    QCOMPARE(m_world->box.commands.size(), 0U);

    use(plan(true));
    ASSAY_OK(add({"x"}));
    m_world->clock.advance(SessionSealer::kLifetime);
    m_world->run->finish();
    m_world->records.endings.clear();
    m_world->execute();
    QCOMPARE(endings(), "6:refused:session_expired ");
    QCOMPARE(m_world->box.commands.size(), 0U);
    QVERIFY(!m_world->broker.admit(test::someone(test::kScopeB), *m_world->run));
}

void TestRunExecution::aCancelledRunExecutesNothingThatWaited()
{
    use(plan(true));
    m_world->box.blockUntilCancelled = true;
    ASSAY_OK(add({"one"}));
    ASSAY_OK(add({"two"}));
    std::jthread canceller([&] {
        while (!m_world->box.running)
            std::this_thread::yield();
        m_world->run->cancel("cancelled");
    });
    m_world->box.result.termination = sandbox::Termination::Cancelled;
    m_world->execute();
    QCOMPARE(endings(), "1:terminated:cancelled 2:refused:cancelled ");
    ASSAY_FAILS(add({"three"}), ErrorCode::Conflict);
}

QTEST_APPLESS_MAIN(TestRunExecution)
#include "tst_run_execution.moc"
