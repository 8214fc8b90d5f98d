// SPDX-License-Identifier: Apache-2.0
#include "server/store/idempotency_table.h"
#include "server/store/sample_table.h"
#include "tests/unit/retention/retention_world.h"

#include <QDirIterator>
#include <fstream>
#include <future>
#include <sys/stat.h>

using namespace assay;
using store::Connection;
using store::Removal;
using test::countOf;
using test::kindOf;
using test::kScopeA;
using test::kScopeB;
using test::RetentionWorld;

class TestCollection : public QObject
{
    Q_OBJECT

private slots:
    void keepsWhatAManifestPins_data() { backends(); }
    void keepsWhatAManifestPins();
    void withdrawnRevisionsGoAfterTheirTime_data() { backends(); }
    void withdrawnRevisionsGoAfterTheirTime();
    void currentAndShownRevisionsStay();
    void deletedSkillsGoWhole_data() { backends(); }
    void deletedSkillsGoWhole();
    void otherScopesKeepTheirOwn();
    void saysBeforehandWhatItWillRemove_data() { backends(); }
    void saysBeforehandWhatItWillRemove();
    void aScopeHasItsOwnTimes();
    void zeroDaysAreForEver();
    void artifactsGoBeforeTheirRun_data() { backends(); }
    void artifactsGoBeforeTheirRun();
    void bytesWithoutARowGo_data() { backends(); }
    void bytesWithoutARowGo();
    void heldBytesStay_data() { backends(); }
    void heldBytesStay();
    void youngFilesStay();
    void runsWithMuchOutputGoInParts();
    void whatNamesARunGoesWithIt();
    void keptAnswersAndTemporaryFilesGo();
    void aCutCollectionGoesOnLater_data() { backends(); }
    void aCutCollectionGoesOnLater();
    void oneAtATime();
    void endsSoonWhenStopped();

private:
    static void backends()
    {
        QTest::addColumn<QString>("backend");
        QTest::newRow("database") << "database";
        QTest::newRow("filesystem") << "filesystem";
    }
    static QString backend() { return *static_cast<QString*>(QTest::qData("backend", qMetaTypeId<QString>())); }
};

void TestCollection::keepsWhatAManifestPins()
{
    RetentionWorld world(backend());
    const auto first = world.publish("demo", "one").skill;
    world.addRun("run_1", first);
    const auto second = world.publish("demo", "two").skill;
    ASSAY_OK(world.skills.withdraw(test::builderOf(kScopeA), "demo", first.revision, {"leaks"}));
    world.laterBy(400);
    QCOMPARE(countOf(world.collect(), "revisions"), 0U);
    QVERIFY(world.isServed("demo", first.revision));
    world.endRun("run_1");
    world.laterBy(89);
    world.collect();
    QVERIFY(world.hasRun("run_1") && world.isServed("demo", first.revision));
    world.laterBy(2);
    const auto report = world.collect();
    QVERIFY(report.complete);
    QCOMPARE(countOf(report, "runs"), 1U);
    QCOMPARE(countOf(report, "revisions"), 1U);
    QCOMPARE(countOf(report, "packages"), 1U);
    QVERIFY(!world.hasRun("run_1") && !world.hasBundle(first.digest));
    QVERIFY(world.isServed("demo", second.revision));
}

void TestCollection::withdrawnRevisionsGoAfterTheirTime()
{
    RetentionWorld world(backend());
    const auto first = world.publish("demo", "one").skill;
    const auto second = world.publish("demo", "two").skill;
    ASSAY_OK(world.skills.withdraw(test::builderOf(kScopeA), "demo", first.revision, {"leaks"}));
    world.laterBy(89);
    QCOMPARE(countOf(world.collect(), "revisions"), 0U);
    world.laterBy(2);
    QCOMPARE(countOf(world.collect(), "revisions"), 1U);
    ASSAY_FAILS(world.skills.revision(test::builderOf(kScopeA), "demo", first.revision), ErrorCode::NotFound);
    QVERIFY(!world.hasBundle(first.digest));
    QVERIFY(world.isServed("demo", second.revision));
}

void TestCollection::currentAndShownRevisionsStay()
{
    RetentionWorld world("database");
    const auto only = world.publish("demo", "one").skill;
    const auto old = world.publish("other", "one").skill; // superseded, but never withdrawn: history stays
    world.publish("other", "two");
    ASSAY_OK(world.skills.withdraw(test::builderOf(kScopeA), "demo", only.revision, {"leaks"}));
    world.laterBy(400);
    const auto report = world.collect();
    QCOMPARE(countOf(report, "revisions"), 0U);
    QCOMPARE(countOf(report, "packages"), 0U);
    QVERIFY(world.isServed("demo", only.revision) && world.isServed("other", old.revision));
}

void TestCollection::deletedSkillsGoWhole()
{
    RetentionWorld world(backend());
    const auto gone = world.publish("gone", "one").skill;
    world.publish("gone", "two");
    const auto stays = world.publish("stays", "one").skill;
    ASSAY_OK(world.skills.remove(test::builderOf(kScopeA), "gone", {}));
    world.laterBy(91);
    const auto report = world.collect();
    QCOMPARE(countOf(report, "revisions"), 2U);
    QCOMPARE(countOf(report, "skills"), 1U);
    QCOMPARE(countOf(report, "packages"), 2U);
    QVERIFY(!world.hasBundle(gone.digest) && world.isServed("stays", stays.revision));
    // Nothing remembers it: a new skill of the name begins its own history.
    QCOMPARE(world.publish("gone", "one").skill.number, 1U);
    QVERIFY(world.hasBundle(gone.digest));
}

void TestCollection::otherScopesKeepTheirOwn()
{
    RetentionWorld world("database");
    const auto mine = world.publish("demo", "one").skill;
    const auto theirs = world.publish("demo", "one", kScopeB).skill; // the same bytes, another scope's
    ASSAY_OK(world.skills.remove(test::builderOf(kScopeA), "demo", {}));
    world.laterBy(400);
    QCOMPARE(countOf(world.collect(), "packages"), 1U);
    QCOMPARE(mine.digest, theirs.digest);
    QVERIFY(!world.hasBundle(mine.digest) && world.isServed("demo", theirs.revision, kScopeB));
}

void TestCollection::saysBeforehandWhatItWillRemove()
{
    RetentionWorld world(backend());
    const auto pinned = world.publish("demo", "one").skill;
    world.addRun("run_old", pinned);
    world.addArtifact("run_old", "art_1", "bytes of an old run");
    world.endRun("run_old");
    world.publish("demo", "two");
    ASSAY_OK(world.skills.withdraw(test::builderOf(kScopeA), "demo", pinned.revision, {"leaks"}));
    world.publish("gone", "one");
    ASSAY_OK(world.skills.remove(test::builderOf(kScopeA), "gone", {}));
    const auto young = world.publish("young", "one").skill;
    world.laterBy(100);
    world.addRun("run_new", young);
    world.endRun("run_new");

    const auto told = world.collect(Removal::CountOnly);
    QVERIFY(told.dryRun && told.complete && world.hasRun("run_old") && world.hasBundle(pinned.digest));
    const auto again = world.collect(Removal::CountOnly);
    const auto done = world.collect();
    for (const char* kind :
         {"runs", "artifacts", "revisions", "skills", "packages", "artifact_bytes", "kept_answers"}) {
        QCOMPARE(countOf(again, kind), countOf(told, kind));
        // With a run its artifacts go; told, they stand under their own kind too.
        if (kind != std::string_view("artifacts"))
            QVERIFY2(countOf(done, kind) == countOf(told, kind), kind);
        if (kind != std::string_view("artifacts"))
            QCOMPARE(kindOf(done, kind).bytes, kindOf(told, kind).bytes);
    }
    QCOMPARE(countOf(done, "packages"), 2U);
    QCOMPARE(countOf(done, "artifact_bytes"), 1U);
    QVERIFY(!world.hasBytes("bytes of an old run") && world.hasRun("run_new"));
    QCOMPARE(countOf(world.collect(), "packages"), 0U);
}

void TestCollection::aScopeHasItsOwnTimes()
{
    RetentionWorld world("database");
    world.write([](Connection& connection) { return store::RetentionTable(connection).put(kScopeA, {.runsDays = 7}); });
    const auto skill = world.publish("demo", "one").skill;
    const auto other = world.publish("demo", "one", kScopeB).skill;
    world.addRun("run_1", skill);
    world.endRun("run_1");
    world.addRun("run_1", other, kScopeB);
    world.endRun("run_1", kScopeB);
    world.laterBy(8);
    QCOMPARE(countOf(world.collect(), "runs"), 1U);
    QVERIFY(!world.hasRun("run_1") && world.hasRun("run_1", kScopeB));
}

void TestCollection::zeroDaysAreForEver()
{
    RetentionWorld world("database");
    const auto skill = world.publish("demo", "one").skill;
    world.addRun("run_1", skill);
    world.endRun("run_1");
    ASSAY_OK(world.skills.remove(test::builderOf(kScopeA), "demo", {}));
    world.laterBy(30'000);
    auto forEver = world.collector({.defaults = {.runsDays = 0, .artifactsDays = 0, .revisionsDays = 0}});
    const auto report = forEver.collect(Removal::Real);
    ASSAY_OK(report);
    for (const auto& kind : report->kinds)
        QCOMPARE(kind.count, 0U);
}

void TestCollection::artifactsGoBeforeTheirRun()
{
    RetentionWorld world(backend());
    world.addRun("run_1", world.publish("demo", "one").skill);
    world.addArtifact("run_1", "art_1", "early");
    world.endRun("run_1");
    world.laterBy(10);
    world.addArtifact("run_1", "art_2", "late");
    auto short_ = world.collector({.defaults = {.runsDays = 365, .artifactsDays = 5}});
    const auto report = short_.collect(Removal::Real);
    ASSAY_OK(report);
    QCOMPARE(countOf(*report, "artifacts"), 1U);
    QCOMPARE(countOf(*report, "artifact_bytes"), 1U);
    QVERIFY(world.hasRun("run_1") && !world.hasBytes("early") && world.hasBytes("late"));
}

void TestCollection::bytesWithoutARowGo()
{
    RetentionWorld world(backend());
    const std::string_view pieces[] = {"nobody names me"};
    ASSAY_OK(world.packages->put(kScopeA, Digest::ofBytes(pieces[0]), pieces));
    ASSAY_OK(world.artifacts->put(kScopeB, Digest::ofBytes(pieces[0]), pieces));
    world.laterBy(100);
    const auto report = world.collect();
    QCOMPARE(countOf(report, "packages"), 1U);
    QCOMPARE(countOf(report, "artifact_bytes"), 1U);
    QCOMPARE(kindOf(report, "packages").bytes, pieces[0].size());
    ASSAY_FAILS(world.packages->fetch(kScopeA, Digest::ofBytes(pieces[0])), ErrorCode::NotFound);
}

void TestCollection::heldBytesStay()
{
    RetentionWorld world(backend());
    const std::string_view pieces[] = {"the row comes later"};
    const Digest digest = Digest::ofBytes(pieces[0]);
    auto hold = world.packages->hold(kScopeA, digest);
    {
        const auto second = world.packages->hold(kScopeA, digest);
        ASSAY_OK(world.packages->put(kScopeA, digest, pieces));
    }
    world.laterBy(100);
    QCOMPARE(countOf(world.collect(), "packages"), 0U);
    ASSAY_OK(world.packages->fetch(kScopeA, digest));
    hold = {};
    QCOMPARE(countOf(world.collect(), "packages"), 1U);
}

void TestCollection::youngFilesStay()
{
    RetentionWorld world("filesystem");
    const std::string_view pieces[] = {"just written"};
    const Digest digest = Digest::ofBytes(pieces[0]);
    ASSAY_OK(world.packages->put(kScopeA, digest, pieces));
    const auto offset = SystemClock().now() - world.clock.now();
    world.clock.advance(offset + std::chrono::minutes(59));
    QCOMPARE(countOf(world.collect(), "packages"), 0U);
    world.clock.advance(std::chrono::minutes(2));
    QCOMPARE(countOf(world.collect(), "packages"), 1U);
}

void TestCollection::runsWithMuchOutputGoInParts()
{
    RetentionWorld world("database");
    world.addRun("run_1", world.publish("demo", "one").skill);
    const std::string output(1 << 20, 'x');
    for (int i = 0; i < 150; ++i)
        world.write([&](Connection& connection) {
            const std::string id = "cmd_" + std::to_string(i);
            return store::CommandTable(connection)
                .put(kScopeA, "run_1", {.id = id, .state = "ended", .out = {i < 20 ? output : "x", "", 1}});
        });
    world.write(
        [&](Connection& connection) { return store::RunEventTable(connection).put(kScopeA, "run_1", "event"); });
    world.endRun("run_1");
    world.laterBy(100);
    // A stop is obeyed after each part, also of the first row.
    const auto cut = world.collector({.stepTime = std::chrono::milliseconds(0)}).collect(Removal::Real);
    ASSAY_OK(cut);
    QVERIFY(!cut->complete && world.hasRun("run_1"));
    const auto report = world.collect();
    QCOMPARE(countOf(report, "runs"), 1U);
    QVERIFY(kindOf(report, "runs").bytes > 12U << 20);
    QVERIFY(!world.hasRun("run_1"));
}

void TestCollection::whatNamesARunGoesWithIt()
{
    RetentionWorld world("database");
    const auto skill = world.publish("demo", "one").skill;
    world.addRun("run_1", skill);
    world.endRun("run_1");
    world.laterBy(50);
    world.addRun("run_2", skill);
    const Digest digest = Digest::parse(skill.digest).value();
    world.write([&](Connection& connection) -> Result<void> {
        store::SampleTable table(connection);
        for (const char* run : {"run_1", "run_2"})
            if (auto done = table.addRun(kScopeA, "demo", {digest, "small", run, 1, "ann", world.clock.now()}); !done)
                return done;
        for (const auto& [id, from, to] :
             {std::tuple("cmp_1", "run_1", "run_2"), {"cmp_2", "run_2", "run_1"}, {"cmp_3", "run_2", "run_2"}})
            if (auto done = table.insert(kScopeA, {.id = id, .skill = "demo", .fromRun = from, .toRun = to}); !done)
                return done;
        return {};
    });
    world.laterBy(50);
    QCOMPARE(countOf(world.collect(), "runs"), 1U);
    const auto left = world.database.read([&](Connection& connection) -> Result<std::string> {
        std::string out;
        for (const char* sql :
             {"SELECT group_concat(run) FROM sample_runs", "SELECT group_concat(id) FROM comparisons"}) {
            auto query = connection.prepare(sql);
            if (!query || !query->step())
                return fail(ErrorCode::Internal, "the query failed");
            out += std::string(query->text(0)) + " ";
        }
        return out;
    });
    ASSAY_OK(left);
    QCOMPARE(*left, "run_2 cmp_3 ");
}

void TestCollection::keptAnswersAndTemporaryFilesGo()
{
    RetentionWorld world("filesystem");
    world.write([&](Connection& connection) -> Result<void> {
        store::IdempotencyRow row{.route = "POST /v1/skills",
                                  .key = "k",
                                  .status = 201,
                                  .headers = "[]",
                                  .body = "answer",
                                  .createdAt = world.clock.now(),
                                  .expiresAt = world.clock.now() + std::chrono::hours(24)};
        auto done = store::IdempotencyTable(connection).insert(kScopeA, row);
        return done ? Result<void>{} : Result<void>(forward(done));
    });
    std::ofstream(world.root() / "packages" / "tmp" / "left") << "half a bundle";
    auto report = world.collect(Removal::CountOnly);
    QCOMPARE(countOf(report, "kept_answers"), 0U);
    world.laterBy(100);
    report = world.collect(Removal::CountOnly);
    QCOMPARE(countOf(report, "kept_answers"), 1U);
    QCOMPARE(kindOf(report, "kept_answers").bytes, 6U);
    QCOMPARE(kindOf(report, "temporary_files").bytes, 13U);
    report = world.collect();
    QCOMPARE(countOf(report, "kept_answers"), 1U);
    QCOMPARE(countOf(report, "temporary_files"), 1U);
    report = world.collect();
    QCOMPARE(countOf(report, "kept_answers") + countOf(report, "temporary_files"), 0U);
}

void TestCollection::aCutCollectionGoesOnLater()
{
    RetentionWorld world(backend());
    constexpr int kScopes = 5;
    const auto scopeOf = [](int i) { return std::string(kScopeA).replace(34, 1, std::to_string(i)); };
    for (int i = 0; i < kScopes; ++i) {
        const std::string scope = scopeOf(i);
        const auto skill = world.publish("demo", "one", scope.c_str()).skill;
        world.addRun("run_1", skill, scope.c_str());
        world.endRun("run_1", scope.c_str());
        ASSAY_OK(world.skills.remove(test::builderOf(scope.c_str()), "demo", {}));
    }
    world.laterBy(100);
    auto hasty = world.collector({.stepTime = std::chrono::milliseconds(0)});
    std::uint64_t runs = 0;
    std::uint64_t packages = 0;
    int rounds = 0;
    for (bool complete = false; !complete; ++rounds) {
        QVERIFY(rounds < 40);
        const auto report = hasty.collect(Removal::Real);
        ASSAY_OK(report);
        QVERIFY(countOf(*report, "runs") <= 1);
        runs += countOf(*report, "runs");
        packages += countOf(*report, "packages");
        complete = report->complete;
    }
    QVERIFY(rounds > 2);
    QCOMPARE(runs, std::uint64_t{kScopes});
    // What seemed whole while revisions were still left may have more to give.
    packages += countOf(world.collect(), "packages");
    QCOMPARE(packages, std::uint64_t{kScopes});
}

namespace {

/// Trees that take as long as the test says.
class SlowTrees final : public retention::TreeSweeper
{
public:
    store::Removed sweepTrees(std::chrono::milliseconds, Removal) override
    {
        entered.set_value();
        leave.get_future().wait();
        return {.count = 2, .bytes = 7};
    }
    std::promise<void> entered;
    std::promise<void> leave;
};

} // namespace

void TestCollection::oneAtATime()
{
    RetentionWorld world("database");
    SlowTrees trees;
    auto collector = world.collector({}, &trees);
    auto first = std::async(std::launch::async, [&] { return collector.collect(Removal::Real); });
    trees.entered.get_future().wait();
    ASSAY_FAILS(collector.collect(Removal::CountOnly), ErrorCode::Conflict);
    trees.leave.set_value();
    const auto report = first.get();
    ASSAY_OK(report);
    QCOMPARE(countOf(*report, "trees"), 2U);
}

void TestCollection::endsSoonWhenStopped()
{
    RetentionWorld world("database");
    for (int i = 0; i < 300; ++i) {
        const std::string name = "s" + std::to_string(i);
        world.publish(name, "one");
        ASSAY_OK(world.skills.remove(test::builderOf(kScopeA), name, {}));
    }
    world.laterBy(100);
    auto collector = world.collector();
    collector.stop();
    const auto cut = collector.collect(Removal::Real);
    ASSAY_OK(cut);
    QVERIFY(!cut->complete);
    QVERIFY(countOf(*cut, "revisions") < 300);
    std::uint64_t removed = countOf(*cut, "revisions");
    removed += countOf(world.collect(), "revisions");
    QCOMPARE(removed, 300U);
}

QTEST_APPLESS_MAIN(TestCollection)
#include "tst_collection.moc"
