// SPDX-License-Identifier: Apache-2.0
// Comments, drafts, batches, threads and "viewed" marks of a proposal.
#include "tests/support/review_fixture.h"

using namespace assay;
using test::ReviewFixture;

class TestProposalTalk : public QObject
{
    Q_OBJECT

private slots:
    void init()
    {
        m_world = std::make_unique<ReviewFixture>();
        m_first = m_world->publish("one");
        if (!m_world->verdict(ReviewFixture::ann, m_first.proposal, "approve") ||
            !m_world->desk.proposals().promote(ReviewFixture::ann, m_first.proposal, {}, {}))
            qFatal("the fixture could not promote");
        m_second = m_world->publish("two", ReviewFixture::pat, "demo", "print(1)\nprint(2)\nprint(3)");
        m_id = m_second.proposal;
    }
    void cleanup() { m_world.reset(); }
    void commentsStandOnAnyLineOfEitherSide();
    void refusesLinesAndFilesThatAreNotThere_data();
    void refusesLinesAndFilesThatAreNotThere();
    void repliesJoinTheThread();
    void draftsAreTheirAuthorsAlone();
    void aReviewPublishesAllOrNothing();
    void threadsAreResolvedAndOpenedAgain();
    void publishedCommentsStay();
    void draftsAreBounded();
    void aClosedProposalTakesNoComment();
    void marksHoldAsLongAsTheFileDoes();
    void marksArePersonal();
    void everyChangeHasATag();
    void listsInPages();

private:
    review::Proposals& desk() { return m_world->desk.proposals(); }
    std::vector<contract::Comment> seenBy(const auth::Identity& by)
    {
        return desk().comments(by, m_id, {.size = 200})->items;
    }

    std::unique_ptr<ReviewFixture> m_world;
    registry::Published m_first;
    registry::Published m_second;
    std::string m_id;
};

void TestProposalTalk::commentsStandOnAnyLineOfEitherSide()
{
    const auto whole = desk().comment(ReviewFixture::ann, m_id, {.text = "Why?"});
    ASSAY_OK(whole);
    QVERIFY(whole->path.empty() && !whole->line);
    // An unchanged line, the last line without a line break, and a line of the old side.
    ASSAY_OK(desk().comment(ReviewFixture::ann, m_id, {.path = "SKILL.md", .side = "new", .line = 1, .text = "a"}));
    const auto last =
        desk().comment(ReviewFixture::ann, m_id, {.path = "scripts/run.py", .side = "new", .line = 3, .text = "b"});
    ASSAY_OK(last);
    QCOMPARE(last->fileSha256, Digest::ofBytes("print(1)\nprint(2)\nprint(3)").text());
    const auto old =
        desk().comment(ReviewFixture::ann, m_id, {.path = "scripts/run.py", .side = "old", .line = 2, .text = "c"});
    ASSAY_OK(old);
    QCOMPARE(old->fileSha256, Digest::ofBytes("print(1)\nprint(2)\n").text());
    ASSAY_OK(desk().comment(ReviewFixture::ann, m_id, {.path = "logo.png", .side = "new", .text = "d"}));
    const auto proposal = desk().find(ReviewFixture::ann, m_id);
    QCOMPARE(proposal->comments, 5U);
    QCOMPARE(proposal->unresolved, 4U); // the general one asks for nothing
}

void TestProposalTalk::refusesLinesAndFilesThatAreNotThere_data()
{
    QTest::addColumn<QByteArray>("path");
    QTest::addColumn<QByteArray>("side");
    QTest::addColumn<int>("line");
    QTest::addColumn<QByteArray>("pointer");
    QTest::addRow("past the end") << QByteArray("scripts/run.py") << QByteArray("new") << 4 << QByteArray("/line");
    QTest::addRow("past the old end") << QByteArray("scripts/run.py") << QByteArray("old") << 3 << QByteArray("/line");
    QTest::addRow("no such file") << QByteArray("scripts/other.py") << QByteArray("new") << 1 << QByteArray("/path");
    QTest::addRow("outside") << QByteArray("../etc/passwd") << QByteArray("new") << 1 << QByteArray("/path");
    QTest::addRow("no text") << QByteArray("logo.png") << QByteArray("new") << 1 << QByteArray("/line");
}

void TestProposalTalk::refusesLinesAndFilesThatAreNotThere()
{
    QFETCH(QByteArray, path);
    QFETCH(QByteArray, side);
    QFETCH(int, line);
    QFETCH(QByteArray, pointer);
    const contract::NewComment comment{.path = path.toStdString(),
                                       .side = side.toStdString(),
                                       .line = static_cast<std::uint64_t>(line),
                                       .inReplyTo = {},
                                       .text = "x"};
    const std::string before = desk().find(ReviewFixture::ann, m_id)->etag;
    const auto single = desk().comment(ReviewFixture::ann, m_id, comment);
    ASSAY_FAILS(single, ErrorCode::InvalidArgument);
    QCOMPARE(single.error().problems.front().pointer, pointer.toStdString());
    const auto batch = desk().review(ReviewFixture::ann, m_id,
                                     {.verdict = "approve", .digest = {}, .comments = {{.text = "fine"}, comment}}, {});
    ASSAY_FAILS(batch, ErrorCode::InvalidArgument);
    QCOMPARE(batch.error().problems.front().pointer, "/comments/1" + pointer.toStdString());
    QCOMPARE(desk().find(ReviewFixture::ann, m_id)->etag, before); // nothing half done
    QVERIFY(seenBy(ReviewFixture::ann).empty());
}

void TestProposalTalk::repliesJoinTheThread()
{
    const auto first =
        desk().comment(ReviewFixture::ann, m_id, {.path = "SKILL.md", .side = "new", .line = 2, .text = "Why?"});
    const auto reply = desk().comment(ReviewFixture::pat, m_id, {.inReplyTo = first->id, .text = "Because."});
    ASSAY_OK(reply);
    QCOMPARE(reply->path, "SKILL.md");
    QCOMPARE(*reply->line, 2U);
    const auto deeper = desk().comment(ReviewFixture::ann, m_id, {.inReplyTo = reply->id, .text = "I see."});
    QCOMPARE(deeper->inReplyTo, first->id);
    ASSAY_FAILS(desk().comment(ReviewFixture::ann, m_id, {.inReplyTo = "cmt_01J00000000000000000000000", .text = "x"}),
                ErrorCode::InvalidArgument);
    const auto draft = desk().comment(ReviewFixture::bob, m_id, {.text = "mine", .draft = true});
    ASSAY_FAILS(desk().comment(ReviewFixture::ann, m_id, {.inReplyTo = draft->id, .text = "x"}),
                ErrorCode::InvalidArgument);
}

void TestProposalTalk::draftsAreTheirAuthorsAlone()
{
    const std::string before = desk().find(ReviewFixture::ann, m_id)->etag;
    const auto draft = desk().comment(ReviewFixture::ann, m_id, {.text = "Hm.", .draft = true});
    ASSAY_OK(draft);
    QCOMPARE(desk().find(ReviewFixture::ann, m_id)->etag, before);
    QVERIFY(seenBy(ReviewFixture::bob).empty());
    QCOMPARE(seenBy(ReviewFixture::ann).size(), 1U);
    ASSAY_OK(desk().editDraft(ReviewFixture::ann, m_id, draft->id, "Hmm."));
    QCOMPARE(seenBy(ReviewFixture::ann).front().text, "Hmm.");
    ASSAY_FAILS(desk().editDraft(ReviewFixture::bob, m_id, draft->id, "x"), ErrorCode::NotFound);
    ASSAY_FAILS(desk().removeDraft(ReviewFixture::bob, m_id, draft->id), ErrorCode::NotFound);
    ASSAY_OK(desk().removeDraft(ReviewFixture::ann, m_id, draft->id));
    QVERIFY(seenBy(ReviewFixture::ann).empty());
}

void TestProposalTalk::aReviewPublishesAllOrNothing()
{
    ASSAY_OK(desk().comment(ReviewFixture::ann, m_id, {.text = "draft 1", .draft = true}));
    ASSAY_OK(desk().comment(ReviewFixture::ann, m_id, {.text = "draft 2", .draft = true}));
    ASSAY_OK(desk().comment(ReviewFixture::bob, m_id, {.text = "of bob", .draft = true}));
    ASSAY_FAILS(desk().review(ReviewFixture::ann, m_id,
                              {.verdict = "approve", .digest = Digest::ofBytes("x").text(), .comments = {}}, {}),
                ErrorCode::PreconditionFailed);
    QVERIFY(seenBy(ReviewFixture::pat).empty());
    const auto done = desk().review(ReviewFixture::ann, m_id,
                                    {.verdict = "approve",
                                     .digest = m_second.skill.digest,
                                     .comments = {{.path = "SKILL.md", .side = "old", .line = 1, .text = "with it"}}},
                                    {});
    ASSAY_OK(done);
    QCOMPARE(done->review.comments, 3U);
    QCOMPARE(done->review.digest, m_second.skill.digest);
    QCOMPARE(done->proposal.approvals.size(), 1U);
    const auto seen = seenBy(ReviewFixture::pat);
    QCOMPARE(seen.size(), 3U);
    for (const auto& comment : seen)
        QVERIFY(!comment.draft && comment.review == done->review.id && comment.author == "ann");
    QCOMPARE(desk().reviews(ReviewFixture::pat, m_id)->size(), 1U);
}

void TestProposalTalk::threadsAreResolvedAndOpenedAgain()
{
    const auto first = desk().comment(ReviewFixture::ann, m_id, {.path = "SKILL.md", .side = "new", .text = "Fix."});
    const auto reply = desk().comment(ReviewFixture::pat, m_id, {.inReplyTo = first->id, .text = "Done."});
    const auto resolved = desk().resolve(ReviewFixture::pat, m_id, {reply->id, true}, {});
    ASSAY_OK(resolved);
    QCOMPARE(resolved->unresolved, 0U);
    QCOMPARE(seenBy(ReviewFixture::ann).front().resolvedBy, "pat");
    QCOMPARE(desk().resolve(ReviewFixture::ann, m_id, {first->id, false}, {})->unresolved, 1U);
    ASSAY_FAILS(desk().resolve(ReviewFixture::ann, m_id, {"cmt_01J00000000000000000000000", true}, {}),
                ErrorCode::NotFound);
}

void TestProposalTalk::publishedCommentsStay()
{
    const auto first = desk().comment(ReviewFixture::ann, m_id, {.text = "On record."});
    ASSAY_FAILS(desk().editDraft(ReviewFixture::ann, m_id, first->id, "Never said."), ErrorCode::NotFound);
    ASSAY_FAILS(desk().removeDraft(ReviewFixture::ann, m_id, first->id), ErrorCode::NotFound);
}

void TestProposalTalk::draftsAreBounded()
{
    for (std::size_t i = 0; i < review::Proposals::kMaxDrafts; ++i)
        ASSAY_OK(desk().comment(ReviewFixture::ann, m_id, {.text = "x", .draft = true}));
    ASSAY_FAILS(desk().comment(ReviewFixture::ann, m_id, {.text = "x", .draft = true}), ErrorCode::Conflict);
    ASSAY_OK(desk().comment(ReviewFixture::bob, m_id, {.text = "x", .draft = true}));
}

void TestProposalTalk::aClosedProposalTakesNoComment()
{
    const auto draft = desk().comment(ReviewFixture::ann, m_id, {.text = "x", .draft = true});
    m_world->publish("three");
    for (const bool isDraft : {false, true}) {
        const auto refused = desk().comment(ReviewFixture::ann, m_id, {.text = "x", .draft = isDraft});
        ASSAY_FAILS(refused, ErrorCode::Conflict);
        QCOMPARE(refused.error().reason, "proposal_closed");
    }
    ASSAY_FAILS(desk().resolve(ReviewFixture::ann, m_id, {draft->id, true}, {}), ErrorCode::Conflict);
    ASSAY_OK(desk().comments(ReviewFixture::ann, m_id, {})); // what was said stays readable
    ASSAY_OK(desk().removeDraft(ReviewFixture::ann, m_id, draft->id));
}

void TestProposalTalk::marksHoldAsLongAsTheFileDoes()
{
    const auto marked = [&](const std::string& id) {
        std::vector<std::string> out;
        const auto files = desk().viewed(ReviewFixture::ann, id);
        for (const auto& file : *files)
            out.push_back(file.path);
        return out;
    };
    for (const char* path : {"SKILL.md", "scripts/run.py", "logo.png"})
        ASSAY_OK(desk().markViewed(ReviewFixture::ann, m_id, path));
    ASSAY_FAILS(desk().markViewed(ReviewFixture::ann, m_id, "other"), ErrorCode::NotFound);
    QCOMPARE(marked(m_id), (std::vector<std::string>{"SKILL.md", "logo.png", "scripts/run.py"}));
    ASSAY_OK(desk().unmarkViewed(ReviewFixture::ann, m_id, "logo.png"));
    // The next proposal: SKILL.md differs, the script does not.
    const auto third = m_world->publish("three", ReviewFixture::pat, "demo", "print(1)\nprint(2)\nprint(3)");
    QCOMPARE(marked(third.proposal), std::vector<std::string>{"scripts/run.py"});
}

void TestProposalTalk::marksArePersonal()
{
    ASSAY_OK(desk().markViewed(ReviewFixture::ann, m_id, "SKILL.md"));
    QVERIFY(desk().viewed(ReviewFixture::bob, m_id)->empty());
}

void TestProposalTalk::everyChangeHasATag()
{
    std::set<std::string> tags;
    const auto note = [&] { tags.insert(desk().find(ReviewFixture::bob, m_id)->etag); };
    note();
    const auto first = desk().comment(ReviewFixture::ann, m_id, {.path = "SKILL.md", .side = "new", .text = "x"});
    note();
    ASSAY_OK(desk().resolve(ReviewFixture::ann, m_id, {first->id, true}, {}));
    note();
    ASSAY_OK(desk().resolve(ReviewFixture::ann, m_id, {first->id, false}, {}));
    note();
    ASSAY_OK(desk().acknowledge(ReviewFixture::ann, m_id, {m_second.skill.digest, m_first.skill.digest}, {}));
    note();
    ASSAY_OK(m_world->verdict(ReviewFixture::ann, m_id, "approve"));
    note();
    ASSAY_OK(desk().withdrawVerdict(ReviewFixture::ann, m_id, {}));
    note();
    QCOMPARE(tags.size(), 7U);
}

void TestProposalTalk::listsInPages()
{
    for (int i = 0; i < 5; ++i)
        ASSAY_OK(desk().comment(ReviewFixture::ann, m_id, {.text = std::to_string(i)}));
    std::string all;
    std::string token;
    do {
        const auto page = desk().comments(ReviewFixture::bob, m_id, {.size = 2, .token = token});
        ASSAY_OK(page);
        for (const auto& comment : page->items)
            all += comment.text;
        token = page->nextPageToken.value_or("");
    } while (!token.empty());
    QCOMPARE(all, "01234");
}

QTEST_GUILESS_MAIN(TestProposalTalk)
#include "tst_proposal_talk.moc"
