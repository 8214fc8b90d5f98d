// SPDX-License-Identifier: Apache-2.0
// A server that is killed between the steps of reviews: what was acknowledged holds, and pointer, proposal, history and
// ledger never contradict each other.
#include "server/audit/ledger_table.h"
#include "tests/support/review_fixture.h"

#include <QProcess>
#include <QRandomGenerator>

#include <map>

using namespace assay;
using test::kScopeA;
using test::ReviewFixture;

class TestReviewCrash : public QObject
{
    Q_OBJECT

private slots:
    void everyStepIsWholeOrAbsent();

private:
    using Lines = std::vector<std::array<std::string, 3>>;
    static Lines reviewAndKill(const QString& folder, int round);
    static void checkAcknowledged(registry::SkillService& skills, const Lines& lines);
    static void checkSkill(registry::SkillService& skills, review::Desk& desk, const contract::Skill& skill);
    static void checkLedger(store::Database& database, review::Desk& desk);
};

TestReviewCrash::Lines TestReviewCrash::reviewAndKill(const QString& folder, int round)
{
    QProcess process;
    process.start(ASSAY_REVIEWER, {folder, QString::number(round)});
    process.waitForReadyRead(20'000);
    QTest::qWait(static_cast<int>(QRandomGenerator::global()->bounded(20, 300)));
    process.kill();
    process.waitForFinished(20'000);
    Lines out;
    for (const QByteArray& line : process.readAllStandardOutput().split('\n')) {
        const QList<QByteArray> words = line.split(' ');
        if (words.size() == 3 && words[2].size() == 30)
            out.push_back({words[0].toStdString(), words[1].toStdString(), words[2].toStdString()});
    }
    return out;
}

void TestReviewCrash::checkAcknowledged(registry::SkillService& skills, const Lines& lines)
{
    for (const auto& [what, skill, id] : lines) {
        const auto revision = skills.revision(ReviewFixture::ann, skill, id);
        ASSAY_OK(revision);
        if (what == "withdrawn")
            QCOMPARE(revision->state, "withdrawn");
        if (what == "promoted")
            QVERIFY(revision->state == "current" || revision->state == "superseded");
    }
}

void TestReviewCrash::checkSkill(registry::SkillService& skills, review::Desk& desk, const contract::Skill& skill)
{
    const auto moves = desk.history().list(ReviewFixture::ann, skill.name, {.size = 1});
    ASSAY_OK(moves);
    const std::string last = moves->items.empty() || !moves->items[0].to ? "" : moves->items[0].to->revision;
    QCOMPARE(skill.currentRevision, last);
    const auto newest = skills.revisions(ReviewFixture::ann, skill.name, {.size = 1})->items.at(0);
    const auto proposals = desk.proposals().list(ReviewFixture::ann, {.skill = skill.name}, {.size = 1});
    ASSAY_OK(proposals);
    // The newest revision and its proposal came together, and tell the same story.
    QCOMPARE(proposals->items.at(0).subject.revision, newest.id);
    const std::map<std::string, std::string> story{
        {"open", "proposed"}, {"approved", "proposed"}, {"promoted", "current"}, {"withdrawn", "withdrawn"}};
    QCOMPARE(story.at(proposals->items[0].state), newest.state);
}

void TestReviewCrash::checkLedger(store::Database& database, review::Desk& desk)
{
    const auto rows = database.read(
        [](store::Connection& connection) { return audit::LedgerTable(connection).after(kScopeA, 0, 1'000'000); });
    ASSAY_OK(rows);
    std::map<std::string, std::size_t> counts;
    for (const audit::Row& row : *rows)
        ++counts[row.operation];
    std::size_t promoted = 0;
    std::string token;
    do {
        const auto page =
            desk.proposals().list(ReviewFixture::ann, {.state = "promoted"}, {.size = 200, .token = token});
        ASSAY_OK(page);
        promoted += page->items.size();
        token = page->nextPageToken.value_or("");
    } while (!token.empty());
    QCOMPARE(counts["revision.promote"], promoted);
}

void TestReviewCrash::everyStepIsWholeOrAbsent()
{
    const QTemporaryDir folder;
    Lines acknowledged;
    for (int round = 0; round < 6; ++round) {
        const auto more = reviewAndKill(folder.path(), round);
        QVERIFY(!more.empty());
        acknowledged.insert(acknowledged.end(), more.begin(), more.end());
        const SystemClock clock;
        const auto database = store::Database::open({.file = folder.filePath("assay.db").toStdString()});
        ASSAY_OK(database);
        const auto packages = store::makePackageStore({}, **database);
        ASSAY_OK(packages);
        review::Desk desk(**database, **packages, clock);
        registry::SkillService skills(**database, **packages, clock, {}, nullptr, desk.checks());
        checkAcknowledged(skills, acknowledged);
        const auto page = skills.list(ReviewFixture::ann, {}, {.size = 200});
        ASSAY_OK(page);
        for (const contract::Skill& skill : page->items)
            checkSkill(skills, desk, skill);
        checkLedger(**database, desk);
    }
}

QTEST_GUILESS_MAIN(TestReviewCrash)
#include "tst_review_crash.moc"
