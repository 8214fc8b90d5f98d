// SPDX-License-Identifier: Apache-2.0
// Garbage is collected without pause while everything is past its time at once: what was published and not deleted is
// there, byte for byte, whichever the backend. tests/integration/store kills such a process.
#include "tests/unit/retention/retention_world.h"

#include <atomic>
#include <thread>

using namespace assay;
using store::Removal;
using test::kScopeA;
using test::RetentionWorld;

class TestCollectionRaces : public QObject
{
    Q_OBJECT

private slots:
    void neverTakesWhatIsBeingPublished_data() { backends(); }
    void neverTakesWhatIsBeingPublished();
    void neverTakesWhatIsBeingCollected_data() { backends(); }
    void neverTakesWhatIsBeingCollected();

private:
    static void backends()
    {
        QTest::addColumn<QString>("backend");
        QTest::newRow("database") << "database";
        QTest::newRow("filesystem") << "filesystem";
    }
    static constexpr auto kTime = std::chrono::seconds(3);

    /// Collects, each time half a year later, until `end`; the number of packages and artifacts' bytes removed.
    static std::uint64_t collectUntil(RetentionWorld& world, std::chrono::steady_clock::time_point end)
    {
        std::uint64_t removed = 0;
        auto collector = world.collector();
        while (std::chrono::steady_clock::now() < end) {
            world.laterBy(180);
            const auto report = collector.collect(Removal::Real);
            if (!report || !report->complete)
                return 0;
            removed += test::countOf(*report, "packages") + test::countOf(*report, "artifact_bytes");
        }
        return removed;
    }
};

// Each thread owns a skill: it publishes one of three contents, looks at it, and deletes the skill now and then, so
// that the same bytes are put again while the collector takes them.
void TestCollectionRaces::neverTakesWhatIsBeingPublished()
{
    QFETCH(const QString, backend);
    RetentionWorld world(backend);
    const auto end = std::chrono::steady_clock::now() + kTime;
    std::atomic<unsigned> lost{0};
    std::atomic<unsigned> published{0};
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 6; ++thread)
        threads.emplace_back([&, thread] {
            const std::string name = "skill-" + std::to_string(thread);
            const auth::Identity by = test::builderOf(kScopeA);
            for (unsigned i = 0; std::chrono::steady_clock::now() < end; ++i) {
                const std::string body = "content " + std::to_string(i % 3);
                const auto done = world.skills.publish(by, name, test::makeSkill(name, body), {});
                const auto file = world.skills.file(by, name, "current", "SKILL.md");
                if (!done)
                    qWarning() << test::explain(done);
                if (!file)
                    qWarning() << test::explain(file);
                if (!done || !file || !std::string(file->bytes).contains(body))
                    ++lost;
                if (i % 2 == 1 && !world.skills.remove(by, name, {}))
                    ++lost;
                ++published;
            }
        });
    const auto removed = collectUntil(world, end);
    for (auto& thread : threads)
        thread.join();
    QCOMPARE(lost.load(), 0U);
    QVERIFY2(published > 50 && removed > 10, "nothing was raced");
}

// The bytes of artifacts come before their rows, in transactions of their own.
void TestCollectionRaces::neverTakesWhatIsBeingCollected()
{
    QFETCH(const QString, backend);
    RetentionWorld world(backend);
    const auto skill = world.publish("demo", "one").skill;
    const auto end = std::chrono::steady_clock::now() + kTime;
    std::atomic<unsigned> lost{0};
    std::atomic<unsigned> made{0};
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 4; ++thread)
        threads.emplace_back([&, thread] {
            for (unsigned i = 0; std::chrono::steady_clock::now() < end; ++i) {
                const std::string bytes = "artifact " + std::to_string(i % 2); // all threads put the same
                const Digest digest = Digest::ofBytes(bytes);
                const std::string id = std::to_string(thread) + "_" + std::to_string(i);
                world.addRun("run_" + id, skill);
                {
                    const auto hold = world.artifacts->hold(kScopeA, digest);
                    const std::string_view pieces[] = {bytes};
                    if (!world.artifacts->put(kScopeA, digest, pieces))
                        ++lost;
                    // Far from over: only the hold and the row can protect the bytes now.
                    const auto named = world.database.write([&](store::Connection& connection) {
                        return store::ArtifactTable(connection)
                            .insert(kScopeA, {.id = "art_" + id,
                                              .run = "run_" + id,
                                              .path = "a",
                                              .sha256 = digest,
                                              .createdAt = world.clock.now() + std::chrono::days(36'500)});
                    });
                    if (!named)
                        ++lost;
                }
                if (!world.artifacts->fetch(kScopeA, digest))
                    ++lost;
                world.endRun("run_" + id);
                ++made;
            }
        });
    collectUntil(world, end);
    for (auto& thread : threads)
        thread.join();
    QCOMPARE(lost.load(), 0U);
    QVERIFY2(made > 50, "nothing was raced");
}

QTEST_APPLESS_MAIN(TestCollectionRaces)
#include "tst_collection_races.moc"
