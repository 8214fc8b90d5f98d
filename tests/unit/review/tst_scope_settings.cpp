// SPDX-License-Identifier: Apache-2.0
#include "server/store/retention_table.h"
#include "tests/support/review_fixture.h"

using namespace assay;
using test::kScopeA;
using test::kScopeB;
using test::ReviewFixture;

class TestScopeSettings : public QObject
{
    Q_OBJECT

private slots:
    void aNewScopeIsAutomatic();
    void changesArePartialAndKept();
    void retentionIsOfTheScopeAndNullFollowsTheServer();
    void anEqualChangeKeepsTheTag();
    void ifMatchGuardsTheChange();
    void refusesUnknownAndRepeatedChecks();
    void refusesWhatIsNoFingerprint();
    void aCheckThatALaterServerRegistersMayBeRequired();
};

void TestScopeSettings::aNewScopeIsAutomatic()
{
    ReviewFixture fixture;
    const auto found = fixture.desk.scopes().find(kScopeB);
    ASSAY_OK(found);
    QCOMPARE(found->promotionMode, "automatic");
    QCOMPARE(found->requiredApprovals, 1U);
    QCOMPARE(found->requiredChecks, (std::vector<std::string>{"package_valid", "capabilities_reviewed"}));
    QVERIFY(!found->updatedAt && found->updatedBy.empty());
}

void TestScopeSettings::changesArePartialAndKept()
{
    ReviewFixture fixture;
    const auto operate = ReviewFixture::person("op", kScopeB);
    ASSAY_OK(fixture.desk.scopes().patch(operate, kScopeA, {.requiredApprovals = 3}, {}));
    const auto found = fixture.desk.scopes().find(kScopeA);
    ASSAY_OK(found);
    QCOMPARE(found->promotionMode, "reviewed");
    QCOMPARE(found->requiredChecks, std::vector<std::string>{"package_valid"});
    QCOMPARE(found->requiredApprovals, 3U);
    QCOMPARE(found->updatedBy, "op");
    QCOMPARE(fixture.desk.scopes().find(kScopeB)->promotionMode, "automatic");
}

void TestScopeSettings::retentionIsOfTheScopeAndNullFollowsTheServer()
{
    ReviewFixture fixture;
    const auto operate = ReviewFixture::person("op", kScopeB);
    contract::PatchScope thirty;
    thirty.retention.runs.emplace(30U);
    thirty.retention.artifacts.emplace(0U);
    ASSAY_OK(fixture.desk.scopes().patch(operate, kScopeA, thirty, {}));
    const auto kept = fixture.database.read(
        [](store::Connection& connection) { return store::RetentionTable(connection).find(kScopeA); });
    ASSAY_OK(kept);
    QCOMPARE(kept->runsDays, std::optional<std::int64_t>(30));
    QCOMPARE(kept->artifactsDays, std::optional<std::int64_t>(0));
    QVERIFY(!kept->revisionsDays);
    contract::PatchScope back;
    back.retention.runs.emplace(std::nullopt);
    const auto now = fixture.desk.scopes().patch(operate, kScopeA, back, {});
    ASSAY_OK(now);
    QVERIFY(!now->retention.runs);
    QCOMPARE(now->retention.artifacts, std::optional<std::uint64_t>(0));
    QCOMPARE(fixture.desk.scopes().find(kScopeB)->retention, contract::RetentionDays{});
}

void TestScopeSettings::anEqualChangeKeepsTheTag()
{
    ReviewFixture fixture;
    const auto before = fixture.desk.scopes().find(kScopeA);
    fixture.clock.advance(std::chrono::seconds(1));
    const auto same = fixture.desk.scopes().patch(ReviewFixture::ann, kScopeA, {.promotionMode = "reviewed"}, {});
    QCOMPARE(same->etag, before->etag);
    const auto other = fixture.desk.scopes().patch(ReviewFixture::ann, kScopeA, {.promotionMode = "automatic"}, {});
    QVERIFY(other->etag != before->etag);
}

void TestScopeSettings::ifMatchGuardsTheChange()
{
    ReviewFixture fixture;
    auto& scopes = fixture.desk.scopes();
    const std::string seen = scopes.find(kScopeA)->etag;
    ASSAY_OK(scopes.patch(ReviewFixture::ann, kScopeA, {.requiredApprovals = 2}, seen));
    ASSAY_FAILS(scopes.patch(ReviewFixture::bob, kScopeA, {.requiredApprovals = 5}, seen),
                ErrorCode::PreconditionFailed);
    QCOMPARE(scopes.find(kScopeA)->requiredApprovals, 2U);
}

void TestScopeSettings::refusesUnknownAndRepeatedChecks()
{
    ReviewFixture fixture;
    const auto unknown = fixture.desk.scopes().patch(
        ReviewFixture::ann, kScopeA, {.requiredChecks = std::vector<std::string>{"lints", "no_such_check"}}, {});
    ASSAY_FAILS(unknown, ErrorCode::InvalidArgument);
    QCOMPARE(unknown.error().problems.front().pointer, "/required_checks/1");
    ASSAY_FAILS(fixture.desk.scopes().patch(ReviewFixture::ann, kScopeA,
                                            {.requiredChecks = std::vector<std::string>{"lints", "lints"}}, {}),
                ErrorCode::InvalidArgument);
}

void TestScopeSettings::refusesWhatIsNoFingerprint()
{
    ReviewFixture fixture;
    for (const char* text :
         {"", "sc_", "sc_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "sc_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "x"}) {
        ASSAY_FAILS(fixture.desk.scopes().find(text), ErrorCode::NotFound);
        ASSAY_FAILS(fixture.desk.scopes().patch(ReviewFixture::ann, text, {}, {}), ErrorCode::NotFound);
    }
}

void TestScopeSettings::aCheckThatALaterServerRegistersMayBeRequired()
{
    class Always final : public review::Check
    {
    public:
        std::string_view id() const override { return "always_fails"; }
        Result<Verdict> judge(store::Connection&, const review::CheckSubject&) const override
        {
            return Verdict{State::Fail, "it always does"};
        }
    };
    ReviewFixture fixture;
    fixture.desk.checks()->add(std::make_unique<Always>());
    fixture.set({.requiredChecks = std::vector<std::string>{"always_fails"}});
    const std::string id = fixture.publish("one").proposal;
    ASSAY_OK(fixture.verdict(ReviewFixture::ann, id, "approve"));
    const auto refused = fixture.desk.proposals().promote(ReviewFixture::ann, id, {}, {});
    ASSAY_FAILS(refused, ErrorCode::Conflict);
    QCOMPARE(refused.error().reason, "checks_not_passed");
    QVERIFY(refused.error().message.contains("it always does"));
}

QTEST_GUILESS_MAIN(TestScopeSettings)
#include "tst_scope_settings.moc"
