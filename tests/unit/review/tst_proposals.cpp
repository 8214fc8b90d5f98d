// SPDX-License-Identifier: Apache-2.0
// What a publish, an approval and a promotion do in a scope of mode `reviewed`.
#include "tests/support/review_fixture.h"

#include <atomic>
#include <thread>

using namespace assay;
using test::kScopeB;
using test::ReviewFixture;

class TestProposals : public QObject
{
    Q_OBJECT

private slots:
    void init() { m_world = std::make_unique<ReviewFixture>(); }
    void cleanup() { m_world.reset(); }
    void aPublishWaitsAndTheCurrentStays();
    void aFirstPublishHasNothingToRun();
    void theSameContentKeepsItsProposal();
    void aNewerRevisionSupersedes();
    void thePublisherCannotApproveOrPromote();
    void theSamePersonWithAnotherTokenIsThePublisher();
    void promotionNeedsEnoughApprovals();
    void promotionNeedsItsChecks();
    void aRequestForChangesBlocksUntilItIsTakenBack();
    void theNewestVerdictOfAPersonCounts();
    void supersededApprovalsCountForNothing();
    void theDirectRouteObeysTheSameRules();
    void rollbackNeedsFourEyesButNoNewApproval();
    void withdrawalEndsTheProposal();
    void deletingTheSkillEndsTheProposal();
    void otherScopesSeeNothing();
    void ifMatchGuardsEveryChange();
    void oneOfTwoPromotersWins();
    void stricterSettingsHoldForOpenProposals();
    void automaticScopesPromoteAtOnce();
    void listsFilterByState();
    void stoppedContentIsNeitherPromotedNorPublished();

private:
    review::Proposals& desk() { return m_world->desk.proposals(); }
    std::string reasonOf(const std::string& id, const auth::Identity& by = ReviewFixture::ann)
    {
        const auto done = desk().promote(by, id, {}, {});
        return done ? "promoted" : done.error().reason;
    }
    /// A first revision that is current, by pat, promoted by ann.
    registry::Published promoted(const std::string& body)
    {
        auto published = m_world->publish(body);
        if (!m_world->verdict(ReviewFixture::ann, published.proposal, "approve") ||
            reasonOf(published.proposal) != "promoted")
            qFatal("the fixture could not promote");
        return published;
    }

    std::unique_ptr<ReviewFixture> m_world;
};

void TestProposals::aPublishWaitsAndTheCurrentStays()
{
    const auto first = promoted("one");
    const auto second = m_world->publish("two");
    QVERIFY(second.revisionCreated && !second.proposal.empty());
    QCOMPARE(second.skill.number, 2U);
    QCOMPARE(second.skill.currentRevision, first.skill.revision);
    const auto skill = m_world->skills.find(ReviewFixture::ann, "demo");
    QCOMPARE(skill->revision, first.skill.revision);
    QCOMPARE(m_world->skills.pin(test::kScopeA, {"demo"})->front().revision, first.skill.revision);
    QCOMPARE(m_world->skills.revision(ReviewFixture::ann, "demo", second.skill.revision)->state, "proposed");

    const auto proposal = desk().find(ReviewFixture::ann, second.proposal);
    ASSAY_OK(proposal);
    QCOMPARE(proposal->state, "open");
    QCOMPARE(proposal->subject.revision, second.skill.revision);
    QCOMPARE(proposal->subject.digest, second.skill.digest);
    QCOMPARE(proposal->publisher, "pat");
    QCOMPARE(proposal->base->revision, first.skill.revision);
    QCOMPARE(proposal->base->digest, first.skill.digest);
    QCOMPARE(proposal->blockers.size(), 1U);
    QCOMPARE(proposal->blockers.front().code, "approvals_missing");

    ASSAY_OK(m_world->verdict(ReviewFixture::bob, second.proposal, "approve"));
    QCOMPARE(desk().find(ReviewFixture::ann, second.proposal)->state, "approved");
    const auto done = desk().promote(ReviewFixture::bob, second.proposal, {"better"}, {});
    ASSAY_OK(done);
    QCOMPARE(done->proposal.state, "promoted");
    QCOMPARE(done->proposal.closedBy, "bob");
    QCOMPARE(done->skill.currentRevision, second.skill.revision);
    QCOMPARE(m_world->skills.find(ReviewFixture::ann, "demo")->digest, second.skill.digest);
    QCOMPARE(m_world->skills.revision(ReviewFixture::ann, "demo", first.skill.revision)->state, "superseded");
}

void TestProposals::aFirstPublishHasNothingToRun()
{
    const auto first = m_world->publish("one");
    QVERIFY(first.skillCreated && first.skill.currentRevision.empty());
    QCOMPARE(m_world->skills.list(ReviewFixture::ann, {.state = "proposed"}, {})->items.size(), 1U);
    const auto pinned = m_world->skills.pin(test::kScopeA, {"demo"});
    ASSAY_FAILS(pinned, ErrorCode::Refused);
    QCOMPARE(pinned.error().reason, "revision_withdrawn");
    QVERIFY(!desk().find(ReviewFixture::ann, first.proposal)->base);
    // Its own revision can be pinned by name, to try it.
    const auto tried = m_world->skills.pin(test::kScopeA, {"demo"}, {{"demo", first.skill.revision}});
    ASSAY_OK(tried);
    QVERIFY(tried->front().proposed);
}

void TestProposals::theSameContentKeepsItsProposal()
{
    const auto first = m_world->publish("one");
    ASSAY_OK(m_world->verdict(ReviewFixture::ann, first.proposal, "approve"));
    const auto again = m_world->publish("one", ReviewFixture::bob);
    QVERIFY(!again.revisionCreated);
    QCOMPARE(again.proposal, first.proposal);
    QCOMPARE(again.skill.revision, first.skill.revision);
    QCOMPARE(desk().find(ReviewFixture::ann, first.proposal)->approvals.size(), 1U);
}

void TestProposals::aNewerRevisionSupersedes()
{
    const auto first = m_world->publish("one");
    const auto second = m_world->publish("two");
    const auto old = desk().find(ReviewFixture::ann, first.proposal);
    QCOMPARE(old->state, "superseded");
    QCOMPARE(old->supersededBy, second.proposal);
    QCOMPARE(m_world->skills.revision(ReviewFixture::ann, "demo", first.skill.revision)->state, "superseded");
    ASSAY_FAILS(m_world->verdict(ReviewFixture::ann, first.proposal, "approve"), ErrorCode::Conflict);
    QCOMPARE(reasonOf(first.proposal), "proposal_closed");
}

void TestProposals::thePublisherCannotApproveOrPromote()
{
    const auto first = m_world->publish("one");
    const auto approved = m_world->verdict(ReviewFixture::pat, first.proposal, "approve");
    ASSAY_FAILS(approved, ErrorCode::PermissionDenied);
    QCOMPARE(approved.error().reason, "self_approval");
    ASSAY_FAILS(m_world->verdict(ReviewFixture::pat, first.proposal, "request_changes"), ErrorCode::PermissionDenied);
    ASSAY_OK(m_world->verdict(ReviewFixture::pat, first.proposal, "comment"));
    ASSAY_FAILS(desk().acknowledge(ReviewFixture::pat, first.proposal, {first.skill.digest}, {}),
                ErrorCode::PermissionDenied);
    ASSAY_OK(m_world->verdict(ReviewFixture::ann, first.proposal, "approve"));
    QCOMPARE(reasonOf(first.proposal, ReviewFixture::pat), "self_promotion");
    QVERIFY(m_world->skills.find(ReviewFixture::ann, "demo")->currentRevision.empty());
}

void TestProposals::theSamePersonWithAnotherTokenIsThePublisher()
{
    const auto first = m_world->publish("one");
    auth::Identity other = ReviewFixture::pat;
    other.tokenId = "tok_another";
    other.roles = auth::Role::Reviewer;
    const auto approved = m_world->verdict(other, first.proposal, "approve");
    ASSAY_FAILS(approved, ErrorCode::PermissionDenied);
    QCOMPARE(approved.error().reason, "self_approval");
    QCOMPARE(reasonOf(first.proposal, other), "self_promotion");
}

void TestProposals::promotionNeedsEnoughApprovals()
{
    m_world->set({.requiredApprovals = 2});
    const auto first = m_world->publish("one");
    QCOMPARE(reasonOf(first.proposal), "approvals_missing");
    ASSAY_OK(m_world->verdict(ReviewFixture::ann, first.proposal, "approve"));
    ASSAY_OK(m_world->verdict(ReviewFixture::ann, first.proposal, "approve")); // twice is still one person
    QCOMPARE(reasonOf(first.proposal), "approvals_missing");
    ASSAY_OK(m_world->verdict(ReviewFixture::bob, first.proposal, "approve"));
    QCOMPARE(reasonOf(first.proposal), "promoted");
}

void TestProposals::promotionNeedsItsChecks()
{
    m_world->set({.requiredChecks = std::vector<std::string>{"package_valid", "capabilities_reviewed", "test_run"}});
    const auto first = m_world->publish("one");
    ASSAY_OK(m_world->verdict(ReviewFixture::ann, first.proposal, "approve"));
    const auto refused = desk().promote(ReviewFixture::ann, first.proposal, {}, {});
    ASSAY_FAILS(refused, ErrorCode::Conflict);
    QCOMPARE(refused.error().reason, "checks_not_passed");
    QCOMPARE(refused.error().problems.size(), 2U);
    QVERIFY(refused.error().message.contains("capabilities_reviewed") && refused.error().message.contains("test_run"));
    ASSAY_FAILS(desk().acknowledge(ReviewFixture::ann, first.proposal, {Digest::ofBytes("other").text()}, {}),
                ErrorCode::PreconditionFailed);
    ASSAY_OK(desk().acknowledge(ReviewFixture::ann, first.proposal, {first.skill.digest}, {}));
    QCOMPARE(desk().promote(ReviewFixture::ann, first.proposal, {}, {}).error().problems.size(), 1U);
    m_world->set({.requiredChecks = std::vector<std::string>{"capabilities_reviewed"}});
    QCOMPARE(reasonOf(first.proposal), "promoted");
}

void TestProposals::aRequestForChangesBlocksUntilItIsTakenBack()
{
    const auto first = m_world->publish("one");
    ASSAY_OK(m_world->verdict(ReviewFixture::ann, first.proposal, "approve"));
    ASSAY_OK(m_world->verdict(ReviewFixture::bob, first.proposal, "request_changes"));
    QCOMPARE(reasonOf(first.proposal), "changes_requested");
    QCOMPARE(desk().find(ReviewFixture::ann, first.proposal)->state, "open");
    // Somebody else's approval does not lift it; taking it back does.
    ASSAY_FAILS(desk().withdrawVerdict(ReviewFixture::pat, first.proposal, {}), ErrorCode::NotFound);
    ASSAY_OK(desk().withdrawVerdict(ReviewFixture::bob, first.proposal, {}));
    QCOMPARE(reasonOf(first.proposal), "promoted");
}

void TestProposals::theNewestVerdictOfAPersonCounts()
{
    const auto first = m_world->publish("one");
    ASSAY_OK(m_world->verdict(ReviewFixture::ann, first.proposal, "request_changes"));
    ASSAY_OK(m_world->verdict(ReviewFixture::ann, first.proposal, "approve"));
    ASSAY_OK(m_world->verdict(ReviewFixture::ann, first.proposal, "comment")); // says nothing about the verdict
    const auto proposal = desk().find(ReviewFixture::ann, first.proposal);
    QVERIFY(proposal->changeRequests.empty());
    QCOMPARE(proposal->approvals.size(), 1U);
    ASSAY_OK(m_world->verdict(ReviewFixture::ann, first.proposal, "request_changes"));
    QCOMPARE(reasonOf(first.proposal), "changes_requested");
}

void TestProposals::supersededApprovalsCountForNothing()
{
    const auto first = m_world->publish("one");
    ASSAY_OK(m_world->verdict(ReviewFixture::ann, first.proposal, "approve"));
    const auto second = m_world->publish("two");
    QVERIFY(desk().find(ReviewFixture::ann, second.proposal)->approvals.empty());
    QCOMPARE(reasonOf(second.proposal), "approvals_missing");
    // Back to the approved content: it is judged anew.
    const auto third = m_world->publish("one");
    QVERIFY(third.revisionCreated);
    QCOMPARE(reasonOf(third.proposal), "approvals_missing");
}

void TestProposals::theDirectRouteObeysTheSameRules()
{
    auto& skills = m_world->skills;
    const auto first = m_world->publish("one");
    const auto direct = [&](const auth::Identity& by, const registry::Published& published) {
        const auto done = skills.promote(by, "demo", published.skill.revision, {});
        return done ? std::string("promoted") : done.error().reason;
    };
    QCOMPARE(direct(ReviewFixture::ann, first), "approvals_missing");
    QCOMPARE(direct(ReviewFixture::pat, first), "self_promotion");
    const auto second = m_world->publish("two");
    QCOMPARE(direct(ReviewFixture::ann, first), "proposal_closed");
    ASSAY_OK(m_world->verdict(ReviewFixture::bob, second.proposal, "approve"));
    QCOMPARE(direct(ReviewFixture::pat, second), "self_promotion");
    QCOMPARE(direct(ReviewFixture::ann, second), "promoted");
    QCOMPARE(desk().find(ReviewFixture::ann, second.proposal)->state, "promoted");
}

void TestProposals::rollbackNeedsFourEyesButNoNewApproval()
{
    const auto first = promoted("one");
    promoted("two");
    const auto open = m_world->publish("three");
    const auto refused = m_world->skills.promote(ReviewFixture::pat, "demo", first.skill.revision, {});
    ASSAY_FAILS(refused, ErrorCode::PermissionDenied);
    const auto back = m_world->skills.promote(ReviewFixture::bob, "demo", first.skill.revision, {}, "two breaks");
    ASSAY_OK(back);
    QCOMPARE(back->digest, first.skill.digest);
    // What waits is compared with what is current now.
    const auto proposal = desk().find(ReviewFixture::ann, open.proposal);
    QCOMPARE(proposal->state, "open");
    QCOMPARE(proposal->base->revision, first.skill.revision);
}

void TestProposals::withdrawalEndsTheProposal()
{
    const auto first = m_world->publish("one");
    auth::Identity builder = ReviewFixture::bob;
    builder.roles = auth::Role::Builder;
    ASSAY_FAILS(desk().withdraw(builder, first.proposal, "no", {}), ErrorCode::PermissionDenied);
    auth::Identity publisher = ReviewFixture::pat;
    publisher.roles = auth::Role::Builder;
    const auto done = desk().withdraw(publisher, first.proposal, "wrong file", {});
    ASSAY_OK(done);
    QCOMPARE(done->state, "withdrawn");
    QCOMPARE(done->reason, "wrong file");
    QCOMPARE(m_world->skills.revision(ReviewFixture::ann, "demo", first.skill.revision)->state, "withdrawn");
    ASSAY_FAILS(m_world->skills.pin(test::kScopeA, {"demo"}, {{"demo", first.skill.revision}}), ErrorCode::Refused);
    QCOMPARE(reasonOf(first.proposal), "proposal_closed");
    const auto second = m_world->publish("two");
    ASSAY_OK(m_world->skills.withdraw(ReviewFixture::ann, "demo", second.skill.revision, {"bad"}));
    QCOMPARE(desk().find(ReviewFixture::ann, second.proposal)->state, "withdrawn");
}

void TestProposals::deletingTheSkillEndsTheProposal()
{
    const auto first = m_world->publish("one");
    ASSAY_OK(m_world->skills.remove(ReviewFixture::pat, "demo", {}));
    QCOMPARE(desk().find(ReviewFixture::ann, first.proposal)->state, "withdrawn");
    const auto again = m_world->publish("one");
    QVERIFY(again.skillCreated && again.skill.currentRevision.empty());
    QCOMPARE(again.skill.number, 2U);
}

void TestProposals::otherScopesSeeNothing()
{
    const auto first = m_world->publish("one");
    const auto stranger = ReviewFixture::person("ann", kScopeB);
    const auto missing = desk().find(stranger, "prop_01J00000000000000000000000");
    const auto foreign = desk().find(stranger, first.proposal);
    ASSAY_FAILS(foreign, ErrorCode::NotFound);
    QCOMPARE(foreign.error().message, missing.error().message);
    QVERIFY(desk().list(stranger, {}, {})->items.empty());
    ASSAY_FAILS(desk().promote(stranger, first.proposal, {}, {}), ErrorCode::NotFound);
    ASSAY_FAILS(desk().withdraw(stranger, first.proposal, "x", {}), ErrorCode::NotFound);
    ASSAY_FAILS(m_world->verdict(stranger, first.proposal, "approve"), ErrorCode::NotFound);
    ASSAY_FAILS(desk().comment(stranger, first.proposal, {.text = "x"}), ErrorCode::NotFound);
    ASSAY_FAILS(desk().markViewed(stranger, first.proposal, "SKILL.md"), ErrorCode::NotFound);
}

void TestProposals::ifMatchGuardsEveryChange()
{
    const auto first = m_world->publish("one");
    const std::string seen = desk().find(ReviewFixture::ann, first.proposal)->etag;
    ASSAY_OK(m_world->verdict(ReviewFixture::bob, first.proposal, "approve"));
    ASSAY_FAILS(desk().promote(ReviewFixture::ann, first.proposal, {}, seen), ErrorCode::PreconditionFailed);
    ASSAY_FAILS(desk().withdraw(ReviewFixture::ann, first.proposal, "x", seen), ErrorCode::PreconditionFailed);
    ASSAY_FAILS(desk().acknowledge(ReviewFixture::ann, first.proposal, {first.skill.digest}, seen),
                ErrorCode::PreconditionFailed);
    ASSAY_FAILS(desk().review(ReviewFixture::ann, first.proposal, {.verdict = "approve"}, seen),
                ErrorCode::PreconditionFailed);
    ASSAY_FAILS(desk().withdrawVerdict(ReviewFixture::bob, first.proposal, seen), ErrorCode::PreconditionFailed);
    for (const bool draft : {false, true})
        ASSAY_FAILS(desk().comment(ReviewFixture::ann, first.proposal, {.text = "x", .draft = draft}, seen),
                    ErrorCode::PreconditionFailed);
    const std::string fresh = desk().find(ReviewFixture::ann, first.proposal)->etag;
    QVERIFY(fresh != seen);
    // A setting that changes what blocks it changes the tag too.
    m_world->set({.requiredApprovals = 2});
    ASSAY_FAILS(desk().promote(ReviewFixture::ann, first.proposal, {}, fresh), ErrorCode::PreconditionFailed);
    m_world->set({.requiredApprovals = 1});
    ASSAY_OK(desk().promote(ReviewFixture::ann, first.proposal, {}, fresh));
}

void TestProposals::oneOfTwoPromotersWins()
{
    for (int round = 0; round < 20; ++round) {
        const auto published = m_world->publish("round " + std::to_string(round));
        ASSAY_OK(m_world->verdict(ReviewFixture::ann, published.proposal, "approve"));
        std::atomic<int> won{0};
        std::atomic<int> closed{0};
        {
            std::vector<std::jthread> promoters;
            for (int i = 0; i < 4; ++i)
                promoters.emplace_back([&, i] {
                    const auto done = desk().promote(i % 2 == 0 ? ReviewFixture::ann : ReviewFixture::bob,
                                                     published.proposal, {}, {});
                    won += done.has_value();
                    closed += !done && done.error().reason == "proposal_closed";
                });
        }
        QCOMPARE(won.load(), 1);
        QCOMPARE(closed.load(), 3);
    }
}

void TestProposals::stricterSettingsHoldForOpenProposals()
{
    const auto first = m_world->publish("one");
    ASSAY_OK(m_world->verdict(ReviewFixture::ann, first.proposal, "approve"));
    QCOMPARE(desk().find(ReviewFixture::ann, first.proposal)->state, "approved");
    m_world->set({.requiredApprovals = 2});
    QCOMPARE(desk().find(ReviewFixture::ann, first.proposal)->state, "open");
    QCOMPARE(reasonOf(first.proposal), "approvals_missing");
}

void TestProposals::automaticScopesPromoteAtOnce()
{
    const auto waiting = m_world->publish("one");
    m_world->set({.promotionMode = "automatic"});
    const auto second = m_world->publish("two");
    QVERIFY(second.proposal.empty());
    QCOMPARE(second.skill.currentRevision, second.skill.revision);
    QCOMPARE(desk().find(ReviewFixture::ann, waiting.proposal)->state, "superseded");
    // Nobody needs four eyes there.
    ASSAY_OK(m_world->skills.promote(ReviewFixture::pat, "demo", waiting.skill.revision, {}));
}

void TestProposals::listsFilterByState()
{
    const auto first = m_world->publish("one");
    const auto second = m_world->publish("two");
    const auto other = m_world->publish("x", ReviewFixture::bob, "other");
    ASSAY_OK(m_world->verdict(ReviewFixture::ann, other.proposal, "approve"));
    const auto ids = [&](const contract::ProposalFilter& filter) {
        std::vector<std::string> out;
        const auto page = desk().list(ReviewFixture::ann, filter, {});
        for (const auto& item : page->items)
            out.push_back(item.id);
        return out;
    };
    QCOMPARE(ids({}), (std::vector{other.proposal, second.proposal, first.proposal}));
    QCOMPARE(ids({.state = "open"}), std::vector{second.proposal});
    QCOMPARE(ids({.state = "approved"}), std::vector{other.proposal});
    QCOMPARE(ids({.state = "superseded"}), std::vector{first.proposal});
    QCOMPARE(ids({.skill = "other"}), std::vector{other.proposal});
    QCOMPARE(ids({.publisher = "pat"}), (std::vector{second.proposal, first.proposal}));
    const auto page = desk().list(ReviewFixture::ann, {}, {.size = 2});
    QCOMPARE(page->items.size(), 2U);
    const auto rest = desk().list(ReviewFixture::ann, {}, {.size = 2, .token = *page->nextPageToken});
    QCOMPARE(rest->items.size(), 1U);
    ASSAY_FAILS(desk().list(ReviewFixture::person("ann", kScopeB), {}, {.size = 2, .token = *page->nextPageToken}),
                ErrorCode::InvalidArgument);
}

void TestProposals::stoppedContentIsNeitherPromotedNorPublished()
{
    const auto first = m_world->publish("one");
    ASSAY_OK(m_world->verdict(ReviewFixture::ann, first.proposal, "approve"));
    auto& stops = m_world->desk.stops();
    ASSAY_OK(stops.add(ReviewFixture::ann, {first.skill.digest, "it phones home"}));
    ASSAY_FAILS(stops.add(ReviewFixture::ann, {first.skill.digest, "again"}), ErrorCode::Conflict);
    QCOMPARE(reasonOf(first.proposal), "revision_withdrawn");
    m_world->set({.promotionMode = "automatic"}, kScopeB);
    const auto elsewhere =
        m_world->skills.publish(ReviewFixture::person("eve", kScopeB), "demo",
                                test::makeSource({{"SKILL.md", "---\nname: demo\ndescription: About it\n---\none\n"},
                                                  {"logo.png", std::string("\x89PNG\0\xff", 6)},
                                                  {"scripts/run.py", "print(1)\nprint(2)\n"}}),
                                {});
    ASSAY_FAILS(elsewhere, ErrorCode::Refused);
    QCOMPARE(elsewhere.error().reason, "revision_withdrawn");
    ASSAY_FAILS(m_world->skills.pin(test::kScopeA, {"demo"}, {{"demo", first.skill.revision}}), ErrorCode::Refused);
    ASSAY_OK(stops.remove(ReviewFixture::ann, first.skill.digest));
    ASSAY_FAILS(stops.remove(ReviewFixture::ann, first.skill.digest), ErrorCode::NotFound);
    QCOMPARE(reasonOf(first.proposal), "promoted");
}

QTEST_GUILESS_MAIN(TestProposals)
#include "tst_proposals.moc"
