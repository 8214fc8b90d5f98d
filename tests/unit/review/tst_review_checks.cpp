// SPDX-License-Identifier: Apache-2.0
// The built-in checks of a proposal.
#include "server/registry/review/test_run_check.h"
#include "server/store/command_table.h"
#include "server/store/run_table.h"
#include "tests/support/review_fixture.h"

using namespace assay;
using test::kScopeA;
using test::ReviewFixture;

class TestReviewChecks : public QObject
{
    Q_OBJECT

private slots:
    void init() { m_world = std::make_unique<ReviewFixture>(); }
    void cleanup() { m_world.reset(); }
    void lintsWarn();
    void anUnknownRequiredCheckNeverPasses();
    void acknowledgementsAreOfTheDigestAndItsBase();
    void testRunsNeedEverySampleOnThisDigest();
    void testRunsJudgeExitAndOutput_data();
    void testRunsJudgeExitAndOutput();
    void outputThatCannotMatchIsNotRead();
    void onlyRequiredChecksDecide();
    void aChangedSampleNeedsANewRun();
    void aSampleSavedAnewNeedsANewRun();
    void expectedOutputsAreComparedAsJson();

private:
    std::string stateOf(const std::string& proposal, const std::string& id)
    {
        const auto found = m_world->desk.proposals().find(ReviewFixture::ann, proposal);
        for (const auto& check : found->checks)
            if (check.id == id)
                return check.state;
        return "absent";
    }
    void save(const std::string& name, std::optional<contract::SampleExpectation> expect = {})
    {
        const contract::PutSample sample{{.script = "scripts/run.py"}, std::move(expect)};
        if (!m_world->desk.samples().put(ReviewFixture::ann, "demo", name, sample, false, {}))
            qFatal("the sample could not be saved");
    }
    /// A run on record that ended so, made of the sample.
    void ran(const std::string& sample, const registry::Published& published, const std::string& state,
             std::int64_t exitCode, const std::string& output, bool ended = true, std::uint64_t dropped = 0);

    std::unique_ptr<ReviewFixture> m_world;
    int m_runs = 0;
};

void TestReviewChecks::ran(const std::string& sample, const registry::Published& published, const std::string& state,
                           std::int64_t exitCode, const std::string& output, bool ended, std::uint64_t dropped)
{
    const auto digest = Digest::parse(published.skill.digest).value();
    const std::string id = "run_01J0000000000000000000" + std::to_string(1000 + ++m_runs);
    const auto done = m_world->database.write([&](store::Connection& connection) -> Result<void> {
        store::RunRow run;
        run.id = id;
        run.state = state;
        run.reason = state == "failed" ? "exit_status" : "";
        run.skills = {{"demo", published.skill.revision, published.skill.number, digest}};
        if (ended)
            run.endedAt = m_world->clock.now();
        if (auto inserted = store::RunTable(connection).insert(kScopeA, run); !inserted)
            return inserted;
        store::CommandRow command;
        command.id = "cmd_01J00000000000000000000000";
        command.state = "ended";
        command.exitCode = exitCode;
        command.out = {output, {}, output.size() + dropped};
        return store::CommandTable(connection).put(kScopeA, id, command);
    });
    if (!done)
        qFatal("the run could not be written: %s", test::explain(done).constData());
    const auto samples = m_world->desk.samples().saved(ReviewFixture::ann, "demo");
    for (const auto& saved : *samples)
        if (saved.sample.name == sample && !m_world->desk.samples().ran(ReviewFixture::ann, "demo", digest, saved, id))
            qFatal("the run could not be noted");
}

void TestReviewChecks::lintsWarn()
{
    const auto clean = m_world->publish("one");
    QCOMPARE(stateOf(clean.proposal, "package_valid"), "pass");
    QCOMPARE(stateOf(clean.proposal, "lints"), "pass");
    const auto linted = m_world->publish("one <!-- hidden -->");
    QCOMPARE(stateOf(linted.proposal, "lints"), "warn");
}

void TestReviewChecks::anUnknownRequiredCheckNeverPasses()
{
    review::CheckRegistry checks;
    const store::RevisionRow revision{.digest = Digest::ofBytes("x"), .lints = "[]"};
    const auto states = m_world->database.read([&](store::Connection& connection) {
        return checks.judge(connection, {kScopeA, "demo", revision, {}}, {"gone"});
    });
    ASSAY_OK(states);
    QCOMPARE(states->back().id, "gone");
    QCOMPARE(states->back().state, "unknown");
    QVERIFY(states->back().required);
}

void TestReviewChecks::acknowledgementsAreOfTheDigestAndItsBase()
{
    const auto first = m_world->publish("one");
    QCOMPARE(stateOf(first.proposal, "capabilities_reviewed"), "pending");
    ASSAY_OK(m_world->desk.proposals().acknowledge(ReviewFixture::ann, first.proposal, {first.skill.digest}, {}));
    QCOMPARE(stateOf(first.proposal, "capabilities_reviewed"), "pass");
    ASSAY_OK(m_world->verdict(ReviewFixture::ann, first.proposal, "approve"));
    ASSAY_OK(m_world->desk.proposals().promote(ReviewFixture::ann, first.proposal, {}, {}));
    const auto second = m_world->publish("two");
    const auto acknowledge = [&](std::optional<std::string> base) {
        return m_world->desk.proposals().acknowledge(ReviewFixture::ann, second.proposal,
                                                     {second.skill.digest, std::move(base)}, {});
    };
    ASSAY_FAILS(acknowledge({}), ErrorCode::InvalidArgument);
    ASSAY_FAILS(acknowledge(""), ErrorCode::PreconditionFailed);
    ASSAY_FAILS(acknowledge(second.skill.digest), ErrorCode::PreconditionFailed);
    QCOMPARE(stateOf(second.proposal, "capabilities_reviewed"), "pending");
    ASSAY_OK(acknowledge(first.skill.digest));
    QCOMPARE(stateOf(second.proposal, "capabilities_reviewed"), "pass");
    // What it is compared with goes away: what it can newly do is another question now.
    ASSAY_OK(m_world->skills.withdraw(ReviewFixture::ann, "demo", first.skill.revision, {"bad"}));
    QCOMPARE(stateOf(second.proposal, "capabilities_reviewed"), "pending");
    ASSAY_FAILS(acknowledge(first.skill.digest), ErrorCode::PreconditionFailed);
    ASSAY_OK(acknowledge(""));
}

void TestReviewChecks::testRunsNeedEverySampleOnThisDigest()
{
    const auto first = m_world->publish("one");
    QCOMPARE(stateOf(first.proposal, "test_run"), "unknown");
    save("small");
    save("large");
    QCOMPARE(stateOf(first.proposal, "test_run"), "pending");
    ran("small", first, "succeeded", 0, "");
    QCOMPARE(stateOf(first.proposal, "test_run"), "pending");
    ran("large", first, "queued", 0, "", false);
    QCOMPARE(stateOf(first.proposal, "test_run"), "pending");
    ran("large", first, "succeeded", 0, "");
    QCOMPARE(stateOf(first.proposal, "test_run"), "pass");
    const auto second = m_world->publish("two");
    QCOMPARE(stateOf(second.proposal, "test_run"), "pending");
}

void TestReviewChecks::testRunsJudgeExitAndOutput_data()
{
    QTest::addColumn<QByteArray>("state");
    QTest::addColumn<int>("exitCode");
    QTest::addColumn<QByteArray>("output");
    QTest::addColumn<QByteArray>("verdict");
    QTest::addRow("as expected") << QByteArray("failed") << 3 << QByteArray("{\"n\": 1.0}\n") << QByteArray("pass");
    QTest::addRow("another exit") << QByteArray("succeeded") << 0 << QByteArray("{\"n\":1}") << QByteArray("fail");
    QTest::addRow("another output") << QByteArray("failed") << 3 << QByteArray("{\"n\":2}") << QByteArray("fail");
    QTest::addRow("no JSON") << QByteArray("failed") << 3 << QByteArray("n = 1") << QByteArray("fail");
    QTest::addRow("cut off") << QByteArray("cancelled") << 3 << QByteArray("{\"n\":1}") << QByteArray("fail");
}

void TestReviewChecks::testRunsJudgeExitAndOutput()
{
    QFETCH(QByteArray, state);
    QFETCH(int, exitCode);
    QFETCH(QByteArray, output);
    QFETCH(QByteArray, verdict);
    const auto first = m_world->publish("one");
    save("small", contract::SampleExpectation{3, json::value(json::object{{"n", 1}})});
    ran("small", first, state.toStdString(), exitCode, output.toStdString());
    QCOMPARE(stateOf(first.proposal, "test_run"), verdict.toStdString());
}

void TestReviewChecks::outputThatCannotMatchIsNotRead()
{
    const auto first = m_world->publish("one");
    save("small", contract::SampleExpectation{0, json::value(1)});
    ran("small", first, "succeeded", 0, std::string(16'000, ' ') + "1");
    QCOMPARE(stateOf(first.proposal, "test_run"), "pass");
    // The kept head and tail alone would be what is expected.
    m_world->clock.advance(std::chrono::seconds(1));
    ran("small", first, "succeeded", 0, "1", true, 5);
    QCOMPARE(stateOf(first.proposal, "test_run"), "fail");
    m_world->clock.advance(std::chrono::seconds(1));
    ran("small", first, "succeeded", 0, std::string(17'000, ' ') + "1");
    QCOMPARE(stateOf(first.proposal, "test_run"), "fail");
}

void TestReviewChecks::onlyRequiredChecksDecide()
{
    review::CheckRegistry checks;
    const store::RevisionRow revision{.digest = Digest::ofBytes("x"), .lints = "[]"};
    const auto states = m_world->database.read([&](store::Connection& connection) {
        return checks.judge(connection, {kScopeA, "demo", revision, {}}, {"lints"}, review::JudgeWhat::Required);
    });
    ASSAY_OK(states);
    QCOMPARE(states->size(), 1U);
    QCOMPARE(states->front().id, "lints");
}

void TestReviewChecks::aChangedSampleNeedsANewRun()
{
    const auto first = m_world->publish("one");
    save("small");
    ran("small", first, "succeeded", 0, "");
    QCOMPARE(stateOf(first.proposal, "test_run"), "pass");
    save("small", contract::SampleExpectation{0, {}});
    QCOMPARE(stateOf(first.proposal, "test_run"), "pending");
}

void TestReviewChecks::aSampleSavedAnewNeedsANewRun()
{
    const auto first = m_world->publish("one");
    save("small");
    const auto old = m_world->desk.samples().saved(ReviewFixture::ann, "demo")->front();
    ran("small", first, "succeeded", 0, "");
    ASSAY_OK(m_world->desk.samples().remove(ReviewFixture::ann, "demo", "small", {}));
    m_world->clock.advance(std::chrono::milliseconds(1));
    const contract::PutSample other{{.script = "scripts/run.py", .args = {"other"}}, {}};
    ASSAY_OK(m_world->desk.samples().put(ReviewFixture::ann, "demo", "small", other, false, {}));
    QCOMPARE(stateOf(first.proposal, "test_run"), "pending");
    // Nor does a run count that began with the old one and is noted only now.
    const std::string run = "run_01J0000000000000000000" + std::to_string(1000 + m_runs);
    ASSAY_OK(
        m_world->desk.samples().ran(ReviewFixture::ann, "demo", Digest::parse(first.skill.digest).value(), old, run));
    QCOMPARE(stateOf(first.proposal, "test_run"), "pending");
    ran("small", first, "succeeded", 0, "");
    QCOMPARE(stateOf(first.proposal, "test_run"), "pass");
}

void TestReviewChecks::expectedOutputsAreComparedAsJson()
{
    using review::isExpectedOutput;
    QVERIFY(isExpectedOutput(json::object{{"a", 1}, {"b", json::array{true}}}, "{\"b\":[true], \"a\":1.0}"));
    QVERIFY(!isExpectedOutput(json::object{{"a", 1}}, "{\"a\":1,\"b\":2}"));
    QVERIFY(isExpectedOutput("plain text\n", "plain text\n"));
    QVERIFY(isExpectedOutput("word", "\"word\""));
    QVERIFY(!isExpectedOutput("plain text", "plain text\n"));
    QVERIFY(isExpectedOutput(nullptr, "null"));
    QVERIFY(!isExpectedOutput(nullptr, ""));
}

QTEST_GUILESS_MAIN(TestReviewChecks)
#include "tst_review_checks.moc"
