// SPDX-License-Identifier: Apache-2.0
#include "tests/support/review_fixture.h"

using namespace assay;
using review::Samples;
using test::kScopeB;
using test::ReviewFixture;

class TestSamples : public QObject
{
    Q_OBJECT

private slots:
    void init()
    {
        m_world = std::make_unique<ReviewFixture>();
        m_world->publish("one");
    }
    void cleanup() { m_world.reset(); }
    void survivesItsStoredForm();
    void replacesWithItsTag();
    void boundsNamesNumbersAndSizes();
    void refusesPathsThatNoRunTakes();
    void otherScopesSeeNothing();
    void comparisonsBelongToTheirSkill();

private:
    Samples& samples() { return m_world->desk.samples(); }
    std::unique_ptr<ReviewFixture> m_world;
};

void TestSamples::survivesItsStoredForm()
{
    contract::PutSample sample{{.script = "scripts/run.py", .args = {"-v"}, .input = json::value(nullptr)},
                               contract::SampleExpectation{2, json::value(json::array{1, "two"})}};
    sample.input.files = {{"in/a.txt", "hello\n"}};
    const auto saved = samples().put(ReviewFixture::ann, "demo", "small", sample, true, {});
    ASSAY_OK(saved);
    QVERIFY(saved->created);
    const auto found = samples().find(ReviewFixture::bob, "demo", "small");
    ASSAY_OK(found);
    QCOMPARE(found->author, "ann");
    QCOMPARE(found->input.args, std::vector<std::string>{"-v"});
    QVERIFY(found->input.input && found->input.input->is_null());
    QCOMPARE(found->input.files.at("in/a.txt"), "hello\n");
    QCOMPARE(*found->expect->exitCode, 2);
    QVERIFY(*found->expect->output == (json::array{1, "two"}));
    QCOMPARE(samples().list(ReviewFixture::bob, "demo")->size(), 1U);
}

void TestSamples::replacesWithItsTag()
{
    const contract::PutSample one{{.script = "scripts/run.py"}, {}};
    const contract::PutSample two{{.script = "scripts/run.py", .args = {"x"}}, {}};
    const auto first = samples().put(ReviewFixture::ann, "demo", "small", one, false, {});
    QCOMPARE(samples().put(ReviewFixture::bob, "demo", "small", one, false, {})->sample.etag, first->sample.etag);
    m_world->clock.advance(std::chrono::milliseconds(1));
    const auto second = samples().put(ReviewFixture::bob, "demo", "small", two, false, first->sample.etag);
    ASSAY_OK(second);
    QVERIFY(!second->created && second->sample.author == "ann");
    ASSAY_FAILS(samples().put(ReviewFixture::bob, "demo", "small", one, false, first->sample.etag),
                ErrorCode::PreconditionFailed);
    ASSAY_FAILS(samples().put(ReviewFixture::bob, "demo", "small", one, true, {}), ErrorCode::PreconditionFailed);
    ASSAY_FAILS(samples().remove(ReviewFixture::bob, "demo", "small", first->sample.etag),
                ErrorCode::PreconditionFailed);
    ASSAY_OK(samples().remove(ReviewFixture::bob, "demo", "small", second->sample.etag));
    ASSAY_FAILS(samples().remove(ReviewFixture::bob, "demo", "small", {}), ErrorCode::NotFound);
}

void TestSamples::boundsNamesNumbersAndSizes()
{
    const contract::PutSample sample{{.script = "scripts/run.py"}, {}};
    for (const char* name : {"", "-a", "a-", "a--b", "A", "a b", "../x", "\u00e4"})
        ASSAY_FAILS(samples().put(ReviewFixture::ann, "demo", name, sample, false, {}), ErrorCode::InvalidArgument);
    contract::PutSample large = sample;
    large.input.stdinText = std::string(Samples::kMaxBytes, 'x');
    ASSAY_FAILS(samples().put(ReviewFixture::ann, "demo", "large", large, false, {}), ErrorCode::InvalidArgument);
    for (std::size_t i = 0; i < Samples::kMaxSamples; ++i)
        ASSAY_OK(samples().put(ReviewFixture::ann, "demo", "s" + std::to_string(i), sample, false, {}));
    ASSAY_FAILS(samples().put(ReviewFixture::ann, "demo", "more", sample, false, {}), ErrorCode::Conflict);
    ASSAY_OK(samples().put(ReviewFixture::ann, "demo", "s1", sample, false, {}));
}

void TestSamples::refusesPathsThatNoRunTakes()
{
    const contract::PutSample outside{{.script = "../../bin/sh"}, {}};
    const auto refused = samples().put(ReviewFixture::ann, "demo", "bad", outside, true, {});
    ASSAY_FAILS(refused, ErrorCode::InvalidArgument);
    QCOMPARE(refused.error().problems.front().pointer, "/script");
    contract::PutSample climbing{{.script = "scripts/run.py"}, {}};
    climbing.input.files = {{"../x", "y"}};
    ASSAY_FAILS(samples().put(ReviewFixture::ann, "demo", "bad", climbing, true, {}), ErrorCode::InvalidArgument);
    QCOMPARE(samples().list(ReviewFixture::ann, "demo")->size(), 0U);
}

void TestSamples::otherScopesSeeNothing()
{
    const contract::PutSample sample{{.script = "scripts/run.py"}, {}};
    ASSAY_OK(samples().put(ReviewFixture::ann, "demo", "small", sample, false, {}));
    const auto stranger = ReviewFixture::person("ann", kScopeB);
    ASSAY_FAILS(samples().find(stranger, "demo", "small"), ErrorCode::NotFound);
    ASSAY_FAILS(samples().list(stranger, "demo"), ErrorCode::NotFound);
    ASSAY_FAILS(samples().put(stranger, "demo", "small", sample, false, {}), ErrorCode::NotFound);
    ASSAY_FAILS(samples().remove(stranger, "demo", "small", {}), ErrorCode::NotFound);
}

void TestSamples::comparisonsBelongToTheirSkill()
{
    m_world->publish("x", ReviewFixture::pat, "other");
    const store::ComparisonRow row{"cmp_01J00000000000000000000000",
                                   "demo",
                                   "small",
                                   "rev_a",
                                   "run_a",
                                   "rev_b",
                                   "run_b",
                                   "ann",
                                   m_world->clock.now()};
    ASSAY_OK(samples().addComparison(ReviewFixture::ann, row));
    QCOMPARE(samples().comparison(ReviewFixture::bob, "demo", row.id)->toRun, "run_b");
    ASSAY_FAILS(samples().comparison(ReviewFixture::ann, "other", row.id), ErrorCode::NotFound);
    ASSAY_FAILS(samples().comparison(ReviewFixture::person("ann", kScopeB), "demo", row.id), ErrorCode::NotFound);
    ASSAY_FAILS(samples().comparison(ReviewFixture::ann, "demo", "cmp_x"), ErrorCode::NotFound);
}

QTEST_GUILESS_MAIN(TestSamples)
#include "tst_samples.moc"
