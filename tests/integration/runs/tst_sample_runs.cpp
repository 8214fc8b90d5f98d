// SPDX-License-Identifier: Apache-2.0
// Test runs of a proposal and comparisons of two revisions, in real boxes.
#include "server/runs/sample_runs.h"
#include "tests/integration/runs/run_world.h"
#include "tests/support/test_support.h"

#include <thread>

using namespace assay;
using test::RunWorld;

class TestSampleRuns : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase();
    void init();
    void cleanup() { m_samples.reset(), m_world.reset(); }
    void aProposalIsTestedOnItsOwnRevision();
    void aBrokenRevisionFailsItsTest();
    void comparesOutputsAndResults();
    void pinsOnlyWhatMayRun();
    void proposedRevisionsGetNoNetwork();

private:
    /// A script that answers {"n": n, "in": its input} and leaves out/result.txt.
    registry::Published publish(int number, bool breaks = false);
    std::string checkOf(const std::string& proposal)
    {
        const auto found = m_world->desk().proposals().find(m_ann, proposal);
        for (const auto& check : found->checks)
            if (check.id == "test_run")
                return check.state;
        return "absent";
    }
    void becomesIdle() { QVERIFY(m_world->becomesIdle()); }

    const auth::Identity m_pat = person("pat");
    const auth::Identity m_ann = person("ann");
    static auth::Identity person(const std::string& name)
    {
        auth::Identity out = RunWorld::someone();
        out.principal = name;
        out.roles = out.roles | auth::Role::Reviewer;
        return out;
    }
    std::unique_ptr<RunWorld> m_world;
    std::unique_ptr<runs::SampleRuns> m_samples;
};

void TestSampleRuns::initTestCase()
{
    RunWorld world;
    const auto why = world.unavailable();
    QVERIFY2(why.empty(), ("no boxes on this machine: " + why).c_str());
}

void TestSampleRuns::init()
{
    m_world = std::make_unique<RunWorld>();
    m_samples =
        std::make_unique<runs::SampleRuns>(m_world->runs(), m_world->skills(), m_world->desk(), m_world->clock());
    const contract::PatchScope reviewed{.promotionMode = "reviewed",
                                        .requiredChecks = std::vector<std::string>{"test_run"}};
    ASSAY_OK(m_world->desk().scopes().patch(m_ann, m_ann.scopeFingerprint, reviewed, {}));
}

registry::Published TestSampleRuns::publish(int number, bool breaks)
{
    const std::string text = std::to_string(number);
    const auto files = std::make_shared<const std::map<std::string, std::string>>(
        std::map<std::string, std::string>{{"SKILL.md", test::skillMd("demo")},
                                           {"s.sh", breaks ? "echo broken >&2; exit 4\n"
                                                           : "read line; mkdir -p out; echo " + text +
                                                                 " > out/result.txt; echo same > out/same.txt\n"
                                                                 "echo \"{\\\"n\\\": " +
                                                                 text + ", \\\"in\\\": $line}\"\n"}});
    std::vector<registry::SourceFile> sources;
    for (const auto& [path, content] : *files)
        sources.push_back({path, content, false});
    auto done = m_world->skills().publish(m_pat, "demo", registry::PackageSource(std::move(sources), files), {});
    if (!done)
        qFatal("publish: %s", test::explain(done).constData());
    return std::move(*done);
}

void TestSampleRuns::aProposalIsTestedOnItsOwnRevision()
{
    const auto first = publish(1);
    ASSAY_FAILS(m_samples->test(m_ann, first.proposal), ErrorCode::Conflict); // no sample yet
    const contract::PutSample sample{{.script = "s.sh", .input = json::value(json::array{7})},
                                     contract::SampleExpectation{{}, json::value(json::object{{"n", 1}, {"in", {7}}})}};
    ASSAY_OK(m_world->desk().samples().put(m_ann, "demo", "seven", sample, true, {}));
    QCOMPARE(checkOf(first.proposal), "pending");
    const auto started = m_samples->test(m_ann, first.proposal);
    ASSAY_OK(started);
    QCOMPARE(started->size(), 1U);
    becomesIdle();
    QCOMPARE(checkOf(first.proposal), "pass");
    const auto run = m_world->runs().find(m_ann, started->front().run);
    QCOMPARE(run->skills.front().revision, first.skill.revision);
    ASSAY_OK(m_world->desk().proposals().review(m_ann, first.proposal, {.verdict = "approve"}, {}));
    ASSAY_OK(m_world->desk().proposals().promote(m_ann, first.proposal, {}, {}));
    const auto closed = m_samples->test(m_ann, first.proposal);
    ASSAY_FAILS(closed, ErrorCode::Conflict);
    QCOMPARE(closed.error().reason, "proposal_closed");
    // The next revision answers another number: the same sample fails on it.
    const auto second = publish(2);
    QCOMPARE(checkOf(second.proposal), "pending");
    ASSAY_OK(m_samples->test(m_ann, second.proposal));
    becomesIdle();
    QCOMPARE(checkOf(second.proposal), "fail");
}

void TestSampleRuns::aBrokenRevisionFailsItsTest()
{
    const auto broken = publish(1, true);
    ASSAY_OK(m_world->desk().samples().put(m_ann, "demo", "any", {{.script = "s.sh"}, {}}, true, {}));
    ASSAY_OK(m_samples->test(m_ann, broken.proposal));
    becomesIdle();
    QCOMPARE(checkOf(broken.proposal), "fail");
    ASSAY_OK(m_world->desk().samples().put(m_ann, "demo", "any", {{.script = "missing.sh"}, {}}, false, {}));
    const auto absent = m_samples->test(m_ann, broken.proposal);
    ASSAY_OK(absent);
    QCOMPARE(absent->front().state, "refused");
    QCOMPARE(checkOf(broken.proposal), "pending");
}

void TestSampleRuns::comparesOutputsAndResults()
{
    const auto first = publish(1);
    const auto second = publish(2);
    contract::NewComparison asked{.from = first.skill.revision, .to = second.skill.revision, .sample = {}};
    asked.input = contract::SampleInput{.script = "s.sh", .input = json::value(json::object{{"a", true}})};
    const auto started = m_samples->compare(m_ann, "demo", asked);
    ASSAY_OK(started);
    becomesIdle();
    const auto ended = m_samples->comparison(m_ann, "demo", started->id);
    ASSAY_OK(ended);
    QCOMPARE(ended->state, "ended");
    QVERIFY(!ended->equal && ended->standardOutput.bothJson && ended->standardError.equal);
    QCOMPARE(ended->standardOutput.differences.size(), 1U);
    QCOMPARE(ended->standardOutput.differences.front().pointer, "/n");
    QCOMPARE(ended->artifacts.size(), 2U);
    QCOMPARE(ended->artifacts[0].path, "result.txt");
    QCOMPARE(ended->artifacts[0].status, "differs");
    QCOMPARE(ended->artifacts[1].status, "equal");
    QVERIFY(ended->from.usage && ended->to.usage);
    asked.to = first.skill.revision;
    const auto same = m_samples->compare(m_ann, "demo", asked);
    becomesIdle();
    QVERIFY(m_samples->comparison(m_ann, "demo", same->id)->equal);
    asked.to = "rev_01J00000000000000000000000";
    ASSAY_FAILS(m_samples->compare(m_ann, "demo", asked), ErrorCode::NotFound);
}

void TestSampleRuns::pinsOnlyWhatMayRun()
{
    const auto first = publish(1);
    contract::StartRun request;
    request.skills = {"demo"};
    request.command = contract::RunCommand{};
    request.command->argv = {"true"};
    request.waitMs = 60'000;
    ASSAY_FAILS(m_world->runs().start(m_ann, request), ErrorCode::Refused); // nothing is current
    request.revisions = {{"demo", first.skill.revision}};
    const auto run = m_world->runs().start(m_ann, request);
    ASSAY_OK(run);
    QCOMPARE(run->skills.front().revision, first.skill.revision);
    request.revisions = {{"demo", "rev_01J00000000000000000000000"}};
    ASSAY_FAILS(m_world->runs().start(m_ann, request), ErrorCode::NotFound);
    request.revisions = {{"other", first.skill.revision}};
    ASSAY_FAILS(m_world->runs().start(m_ann, request), ErrorCode::InvalidArgument);
    ASSAY_OK(m_world->skills().withdraw(m_ann, "demo", first.skill.revision, {"bad"}));
    request.revisions = {{"demo", first.skill.revision}};
    const auto refused = m_world->runs().start(m_ann, request);
    ASSAY_FAILS(refused, ErrorCode::Refused);
    QCOMPARE(refused.error().reason, "revision_withdrawn");
}

void TestSampleRuns::proposedRevisionsGetNoNetwork()
{
    const auto first = publish(1);
    contract::StartRun request;
    request.skills = {"demo"};
    request.revisions = {{"demo", first.skill.revision}};
    request.command = contract::RunCommand{};
    request.command->argv = {"true"};
    request.egress = contract::Egress{.tier = "default_internet"};
    const auto refused = m_world->runs().start(m_ann, request);
    ASSAY_FAILS(refused, ErrorCode::Refused);
    QCOMPARE(refused.error().reason, "policy_denied");
}

QTEST_GUILESS_MAIN(TestSampleRuns)
#include "tst_sample_runs.moc"
