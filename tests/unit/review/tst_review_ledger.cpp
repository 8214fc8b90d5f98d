// SPDX-License-Identifier: Apache-2.0
// Every decision of the review desk is a row of the ledger; what is refused or only said is none.
#include "server/audit/ledger_table.h"
#include "tests/support/review_fixture.h"

using namespace assay;
using test::kScopeA;
using test::ReviewFixture;

class TestReviewLedger : public QObject
{
    Q_OBJECT

private slots:
    void decisionsAreRowsOfTheirScope();
    void stopsAreRowsOfTheServer();
    void aRefusedDecisionLeavesNoAllowedRow();

private:
    static std::vector<std::string> rows(ReviewFixture& fixture, const char* scope)
    {
        const auto found = fixture.database.read(
            [&](store::Connection& connection) { return audit::LedgerTable(connection).after(scope, 0, 1000); });
        std::vector<std::string> out;
        for (const auto& row : *found)
            if (!std::string_view(row.operation).starts_with("skill."))
                out.push_back(row.operation + " " + row.actor + " " + row.resource);
        return out;
    }
};

void TestReviewLedger::decisionsAreRowsOfTheirScope()
{
    ReviewFixture fixture;
    auto& desk = fixture.desk.proposals();
    const auto first = fixture.publish("one");
    ASSAY_OK(fixture.verdict(ReviewFixture::bob, first.proposal, "request_changes"));
    ASSAY_OK(desk.withdrawVerdict(ReviewFixture::bob, first.proposal, {}));
    ASSAY_OK(desk.acknowledge(ReviewFixture::ann, first.proposal, {first.skill.digest}, {}));
    ASSAY_OK(desk.comment(ReviewFixture::ann, first.proposal, {.text = "no decision"}));
    ASSAY_OK(fixture.verdict(ReviewFixture::ann, first.proposal, "comment"));
    ASSAY_OK(fixture.verdict(ReviewFixture::ann, first.proposal, "approve"));
    ASSAY_OK(desk.promote(ReviewFixture::ann, first.proposal, {}, {}));
    ASSAY_OK(fixture.skills.withdraw(ReviewFixture::ann, "demo", "current", {.reason = "x", .stopRuns = true}));
    const auto second = fixture.publish("two");
    ASSAY_OK(desk.withdraw(ReviewFixture::pat, second.proposal, "x", {}));
    const contract::PutSample sample{{.script = "scripts/run.py"}, {}};
    ASSAY_OK(fixture.desk.samples().put(ReviewFixture::ann, "demo", "small", sample, false, {}));
    ASSAY_OK(fixture.desk.samples().put(ReviewFixture::bob, "demo", "small", sample, false, {})); // changes nothing
    ASSAY_OK(fixture.desk.samples().remove(ReviewFixture::bob, "demo", "small", {}));
    const std::string a = first.proposal;
    QCOMPARE(rows(fixture, kScopeA),
             (std::vector<std::string>{"scope.configure operator ", "proposal.request_changes bob " + a,
                                       "proposal.retract bob " + a, "proposal.acknowledge ann " + a,
                                       "proposal.approve ann " + a, "revision.promote ann demo@" + first.skill.revision,
                                       "revision.stop ann demo@" + first.skill.revision,
                                       "revision.withdraw pat demo@" + second.skill.revision, "sample.put ann demo",
                                       "sample.delete bob demo"}));
}

void TestReviewLedger::stopsAreRowsOfTheServer()
{
    ReviewFixture fixture;
    const std::string digest = Digest::ofBytes("x").text();
    ASSAY_OK(fixture.desk.stops().add(ReviewFixture::ann, {digest, "leaks"}));
    ASSAY_OK(fixture.desk.stops().remove(ReviewFixture::ann, digest));
    QCOMPARE(rows(fixture, ""),
             (std::vector<std::string>{"content.stop ann " + digest, "content.resume ann " + digest}));
}

void TestReviewLedger::aRefusedDecisionLeavesNoAllowedRow()
{
    ReviewFixture fixture;
    const auto first = fixture.publish("one");
    const auto before = rows(fixture, kScopeA);
    ASSAY_FAILS(fixture.desk.proposals().promote(ReviewFixture::pat, first.proposal, {}, {}),
                ErrorCode::PermissionDenied);
    ASSAY_FAILS(fixture.desk.proposals().promote(ReviewFixture::ann, first.proposal, {}, {}), ErrorCode::Conflict);
    ASSAY_FAILS(fixture.verdict(ReviewFixture::pat, first.proposal, "approve"), ErrorCode::PermissionDenied);
    QCOMPARE(rows(fixture, kScopeA), before);
}

QTEST_GUILESS_MAIN(TestReviewLedger)
#include "tst_review_ledger.moc"
