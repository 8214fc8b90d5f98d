// SPDX-License-Identifier: Apache-2.0
#include "server/registry/skill_service.h"
#include "server/store/package_store_factory.h"
#include "tests/support/skill_sources.h"

#include <QProcess>
#include <QRandomGenerator>

using namespace assay;
using test::kScopeA;

class TestStoreCrash : public QObject
{
    Q_OBJECT

private slots:
    void losesNothingAcknowledged_data();
    void losesNothingAcknowledged();

private:
    struct Acknowledged
    {
        std::string name;
        std::string revision;
        std::string digest;
    };
    static std::vector<Acknowledged> publishAndKill(const QString& folder, const QString& backend, int round,
                                                    bool collects);
    static void checkAll(registry::SkillService& skills, const std::vector<Acknowledged>& acknowledged);
};

void TestStoreCrash::losesNothingAcknowledged_data()
{
    QTest::addColumn<QString>("backend");
    QTest::addColumn<bool>("collects");
    QTest::newRow("database") << "database" << false;
    QTest::newRow("filesystem") << "filesystem" << false;
    QTest::newRow("database, while garbage is collected") << "database" << true;
    QTest::newRow("filesystem, while garbage is collected") << "filesystem" << true;
}

std::vector<TestStoreCrash::Acknowledged> TestStoreCrash::publishAndKill(const QString& folder, const QString& backend,
                                                                         int round, bool collects)
{
    QProcess process;
    QStringList arguments{folder, backend, QString::number(round)};
    if (collects)
        arguments.append("COLLECT");
    process.start(ASSAY_PUBLISHER, arguments);
    process.waitForReadyRead(20'000);
    QTest::qWait(static_cast<int>(QRandomGenerator::global()->bounded(5, 300)));
    if (process.state() != QProcess::Running)
        return {}; // it found something wrong by itself
    process.kill();
    process.waitForFinished(20'000);
    std::vector<Acknowledged> out;
    for (const QByteArray& line : process.readAllStandardOutput().split('\n')) {
        const QList<QByteArray> words = line.split(' ');
        if (words.size() == 3 && words[2].size() == 71)
            out.push_back({words[0].toStdString(), words[1].toStdString(), words[2].toStdString()});
    }
    return out;
}

void TestStoreCrash::checkAll(registry::SkillService& skills, const std::vector<Acknowledged>& acknowledged)
{
    const auth::Identity by = test::builderOf(kScopeA);
    for (const Acknowledged& one : acknowledged) {
        const auto revision = skills.revision(by, one.name, one.revision);
        ASSAY_OK(revision);
        QCOMPARE(revision->digest, one.digest);
        ASSAY_OK(skills.file(by, one.name, one.revision, "assets/a.bin"));
    }
    // Whatever else is there is whole: numbers without gaps, every bundle readable.
    const auto page = skills.list(by, {}, {.size = 200});
    ASSAY_OK(page);
    for (const auto& skill : page->items) {
        const auto history = skills.revisions(by, skill.name, {.size = 200});
        ASSAY_OK(history);
        QCOMPARE(skill.currentRevision, history->items.at(0).id);
        for (std::size_t i = 0; i < history->items.size(); ++i) {
            // A deleted skill that comes back goes on with its numbers, without the revisions that were collected.
            if (!skill.name.starts_with("litter-"))
                QCOMPARE(history->items[i].number, history->items[0].number - i);
            ASSAY_OK(skills.file(by, skill.name, history->items[i].id, "SKILL.md"));
        }
    }
}

void TestStoreCrash::losesNothingAcknowledged()
{
    QFETCH(const QString, backend);
    QFETCH(const bool, collects);
    const QTemporaryDir folder;
    const std::filesystem::path path = folder.path().toStdString();
    const test::FakeClock clock;
    std::vector<Acknowledged> acknowledged;
    for (int round = 0; round < 6; ++round) {
        const auto more = publishAndKill(folder.path(), backend, round, collects);
        QVERIFY(!more.empty());
        acknowledged.insert(acknowledged.end(), more.begin(), more.end());
        const auto database = store::Database::open({.file = path / "assay.db"});
        ASSAY_OK(database);
        const auto packages = store::makePackageStore({backend.toStdString(), path / "packages"}, **database);
        ASSAY_OK(packages);
        registry::SkillService skills(**database, **packages, clock, {});
        checkAll(skills, acknowledged);
    }
}

QTEST_GUILESS_MAIN(TestStoreCrash)
#include "tst_store_crash.moc"
