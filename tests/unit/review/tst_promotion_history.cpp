// SPDX-License-Identifier: Apache-2.0
#include "server/store/expired_rows.h"
#include "tests/support/review_fixture.h"

using namespace assay;
using std::chrono::milliseconds;
using test::kScopeB;
using test::ReviewFixture;

class TestPromotionHistory : public QObject
{
    Q_OBJECT

private slots:
    void init()
    {
        m_world = std::make_unique<ReviewFixture>();
        m_world->set({.promotionMode = "automatic"});
    }
    void cleanup() { m_world.reset(); }
    void everyMoveIsKept();
    void tellsWhatWasCurrentThen();
    void whatDoesNotMoveLeavesNoRow();
    void goesOnOverADeletion();
    void aCollectedSkillBeginsAnew();
    void listsInPages();
    void otherScopesSeeNothing();

private:
    std::vector<contract::Promotion> all()
    {
        return m_world->desk.history().list(ReviewFixture::ann, "demo", {.size = 200})->items;
    }
    std::unique_ptr<ReviewFixture> m_world;
};

void TestPromotionHistory::everyMoveIsKept()
{
    auto& skills = m_world->skills;
    const auto first = m_world->publish("one").skill;
    const auto second = m_world->publish("two").skill;
    ASSAY_OK(skills.promote(ReviewFixture::bob, "demo", first.revision, {}, "two is slow"));
    ASSAY_OK(skills.withdraw(ReviewFixture::ann, "demo", first.revision, {"leaks"}));
    m_world->set({.promotionMode = "reviewed"});
    const auto third = m_world->publish("three");
    ASSAY_OK(m_world->verdict(ReviewFixture::ann, third.proposal, "approve"));
    ASSAY_OK(m_world->desk.proposals().promote(ReviewFixture::ann, third.proposal, {"reviewed"}, {}));
    ASSAY_OK(skills.withdraw(ReviewFixture::ann, "demo", third.skill.revision, {.reason = "burns", .stopRuns = true}));
    const auto moves = all();
    QCOMPARE(moves.size(), 6U);
    const auto check = [&](std::size_t index, const char* via, const char* by, std::uint64_t from, std::uint64_t to,
                           const char* reason) {
        const auto& move = moves[moves.size() - 1 - index];
        QCOMPARE(move.via, via);
        QCOMPARE(move.by, by);
        QCOMPARE(move.from ? move.from->number : 0, from);
        QCOMPARE(move.to ? move.to->number : 0, to);
        QCOMPARE(move.reason, reason);
    };
    check(0, "publish", "pat", 0, 1, "");
    check(1, "publish", "pat", 1, 2, "");
    check(2, "rollback", "bob", 2, 1, "two is slow");
    check(3, "withdraw", "ann", 1, 0, "leaks");
    check(4, "promote", "ann", 0, 3, "reviewed");
    check(5, "stop", "ann", 3, 0, "burns");
    QCOMPARE(moves[4].to->digest, second.digest);
}

void TestPromotionHistory::tellsWhatWasCurrentThen()
{
    const auto start = m_world->clock.now();
    const auto first = m_world->publish("one").skill;
    const auto between = m_world->clock.now();
    m_world->clock.advance(milliseconds(5));
    const auto second = m_world->publish("two").skill;
    const auto at = [&](Timestamp time) {
        return m_world->desk.history().at(ReviewFixture::ann, "demo", time).value();
    };
    QVERIFY(!at(start));
    QCOMPARE(at(between)->to->revision, first.revision);
    QCOMPARE(at(between + milliseconds(5))->to->revision, first.revision);
    QCOMPARE(at(m_world->clock.now())->to->digest, second.digest);
    ASSAY_OK(m_world->skills.withdraw(ReviewFixture::ann, "demo", "current", {"bad"}));
    QVERIFY(!at(m_world->clock.now())->to);
}

void TestPromotionHistory::whatDoesNotMoveLeavesNoRow()
{
    const auto first = m_world->publish("one").skill;
    m_world->publish("one");
    ASSAY_OK(m_world->skills.promote(ReviewFixture::ann, "demo", first.revision, {}));
    ASSAY_OK(m_world->skills.patch(ReviewFixture::ann, "demo", {.enabled = false}, {}));
    ASSAY_FAILS(m_world->skills.promote(ReviewFixture::ann, "demo", first.revision, "stale"),
                ErrorCode::PreconditionFailed);
    QCOMPARE(all().size(), 1U);
    m_world->publish("two");
    ASSAY_OK(m_world->skills.withdraw(ReviewFixture::ann, "demo", first.revision, {"old"})); // not the current one
    QCOMPARE(all().size(), 2U);
}

void TestPromotionHistory::goesOnOverADeletion()
{
    m_world->publish("one");
    ASSAY_OK(m_world->skills.remove(ReviewFixture::pat, "demo", {}));
    ASSAY_FAILS(m_world->desk.history().list(ReviewFixture::ann, "demo", {}), ErrorCode::NotFound);
    m_world->publish("one");
    const auto moves = all();
    QCOMPARE(moves.size(), 3U);
    QCOMPARE(moves[1].via, "delete");
    QVERIFY(!moves[1].to && !moves[0].from);
}

void TestPromotionHistory::aCollectedSkillBeginsAnew()
{
    m_world->set({.promotionMode = "reviewed"});
    const auto first = m_world->publish("one");
    ASSAY_OK(m_world->verdict(ReviewFixture::ann, first.proposal, "approve"));
    ASSAY_OK(m_world->desk.proposals().comment(ReviewFixture::ann, first.proposal, {.text = "x"}));
    ASSAY_OK(m_world->desk.proposals().promote(ReviewFixture::ann, first.proposal, {}, {}));
    for (int i = 0; i < 20; ++i)
        ASSAY_OK(m_world->desk.samples().put(ReviewFixture::ann, "demo", "small-" + std::to_string(i),
                                             {{.script = "scripts/run.py"}, {}}, false, {}));
    ASSAY_OK(m_world->skills.remove(ReviewFixture::pat, "demo", {}));
    m_world->clock.advance(std::chrono::hours(1));
    const auto now = m_world->clock.now();
    const auto removed = m_world->database.write([&](store::Connection& connection) -> Result<store::RowRemoval> {
        store::ExpiredRows rows(connection);
        if (auto gone = rows.removeRevision(test::kScopeA, first.skill.revision, now); !gone)
            return gone;
        return rows.removeSkill(test::kScopeA, "demo", now);
    });
    ASSAY_OK(removed);
    QVERIFY(*removed == store::RowRemoval::Partly);
    const auto rest = m_world->database.write([&](store::Connection& connection) {
        return store::ExpiredRows(connection).removeSkill(test::kScopeA, "demo", now);
    });
    ASSAY_OK(rest);
    QVERIFY(*rest == store::RowRemoval::Gone);
    ASSAY_FAILS(m_world->desk.proposals().find(ReviewFixture::ann, first.proposal), ErrorCode::NotFound);
    m_world->set({.promotionMode = "automatic"});
    QCOMPARE(m_world->publish("one").skill.number, 1U);
    QCOMPARE(all().size(), 1U);
    QVERIFY(m_world->desk.samples().list(ReviewFixture::ann, "demo")->empty());
}

void TestPromotionHistory::listsInPages()
{
    for (int i = 0; i < 5; ++i)
        m_world->publish(std::to_string(i));
    std::string numbers;
    std::string token;
    do {
        const auto page = m_world->desk.history().list(ReviewFixture::ann, "demo", {.size = 2, .token = token});
        ASSAY_OK(page);
        for (const auto& move : page->items)
            numbers += std::to_string(move.to->number);
        token = page->nextPageToken.value_or("");
    } while (!token.empty());
    QCOMPARE(numbers, "54321");
}

void TestPromotionHistory::otherScopesSeeNothing()
{
    m_world->publish("one");
    const auto stranger = ReviewFixture::person("ann", kScopeB);
    ASSAY_FAILS(m_world->desk.history().list(stranger, "demo", {}), ErrorCode::NotFound);
    ASSAY_FAILS(m_world->desk.history().at(stranger, "demo", m_world->clock.now()), ErrorCode::NotFound);
}

QTEST_GUILESS_MAIN(TestPromotionHistory)
#include "tst_promotion_history.moc"
