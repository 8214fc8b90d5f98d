// SPDX-License-Identifier: Apache-2.0
#include "server/store/artifact_table.h"
#include "server/store/command_table.h"
#include "server/store/run_event_table.h"
#include "server/store/run_table.h"
#include "tests/support/store_fixture.h"

using namespace assay;
using namespace assay::store;
using namespace std::chrono_literals;
using test::kScopeA;
using test::kScopeB;

class TestRunTables : public QObject
{
    Q_OBJECT

private slots:
    void init();
    void cleanup() { m_store.reset(); }
    void runsAreKeptWithTheirSkills();
    void runsOfOtherScopesAreNotThere();
    void listsNewestFirstWithFilters();
    void interruptsWhatDidNotEnd();
    void commandsKeepOutputByteExact();
    void artifactsAreListedByPath();
    void eventsAreReplacedAndBounded();
    void nothingBelongsToAMissingRun();

private:
    template <typename Job> auto write(Job job) { return m_database->write(job); }
    Result<void> add(const char* scope, RunRow row)
    {
        return write([&](Connection& connection) { return RunTable(connection).insert(scope, row); });
    }
    std::optional<RunRow> find(const char* scope, const char* id)
    {
        return m_database->read([&](Connection& connection) { return RunTable(connection).find(scope, id); }).value();
    }
    std::vector<std::string> list(RunQuery query, std::optional<std::string>* more = nullptr)
    {
        auto listed =
            m_database->read([&](Connection& connection) { return RunTable(connection).list(kScopeA, query); }).value();
        if (more != nullptr)
            *more = listed.more;
        std::vector<std::string> ids;
        for (const RunRow& row : listed.rows)
            ids.push_back(row.id);
        return ids;
    }
    RunRow run(const char* id, const char* state = "queued")
    {
        return {.id = id, .state = state, .agent = "helper", .driver = "fake", .createdAt = m_now};
    }
    const Timestamp m_now{1'795'000'000'000ms};
    std::unique_ptr<test::StoreFixture> m_store;
    Database* m_database = nullptr;
};

void TestRunTables::init()
{
    m_store = std::make_unique<test::StoreFixture>();
    m_database = &m_store->open();
}

void TestRunTables::runsAreKeptWithTheirSkills()
{
    RunRow row = run("run_1");
    row.manifest = std::string("{}\0", 3);
    row.skills = {{"zz", "rev_1", 4, Digest::ofBytes("z")}, {"aa", "rev_2", 1, Digest::ofBytes("a")}};
    ASSAY_OK(add(kScopeA, row));
    auto found = find(kScopeA, "run_1");
    QCOMPARE(found->manifest, row.manifest);
    QCOMPARE(found->skills.at(0).name, "zz");
    QVERIFY(found->skills.at(1).digest == Digest::ofBytes("a"));
    ASSAY_OK(write([&](Connection& connection) {
        return RunTable(connection).pin(kScopeA, "run_1", "{1}", "sha256:x", {{"bb", "rev_3", 2, Digest()}});
    }));
    ASSAY_OK(write([&](Connection& connection) {
        return RunTable(connection)
            .update(kScopeA, "run_1", {.state = "succeeded", .phases = "[]", .endedAt = m_now + 1s});
    }));
    found = find(kScopeA, "run_1");
    QCOMPARE(found->manifest, "{1}");
    QCOMPARE(found->skills.size(), 1);
    QCOMPARE(found->state, "succeeded");
    QCOMPARE(found->endedAt, std::optional(m_now + 1s));
}

void TestRunTables::runsOfOtherScopesAreNotThere()
{
    ASSAY_OK(add(kScopeA, run("run_1")));
    QVERIFY(!find(kScopeB, "run_1"));
    const auto update =
        write([&](Connection& connection) { return RunTable(connection).update(kScopeB, "run_1", {}); });
    ASSAY_FAILS(update, ErrorCode::NotFound);
    const auto pin =
        write([&](Connection& connection) { return RunTable(connection).pin(kScopeB, "run_1", "", "", {}); });
    ASSAY_FAILS(pin, ErrorCode::NotFound);
    QCOMPARE(find(kScopeA, "run_1")->state, "queued");
}

void TestRunTables::listsNewestFirstWithFilters()
{
    for (int i = 0; i < 6; ++i) {
        RunRow row = run(("run_" + std::to_string(i)).c_str(), i % 2 == 0 ? "running" : "failed");
        row.createdAt = m_now + std::chrono::hours(i * 2);
        row.agent = i == 3 ? "other" : "helper";
        if (i >= 4)
            row.skills = {{"demo", "rev_1", 1, Digest()}};
        ASSAY_OK(add(kScopeA, row));
    }
    ASSAY_OK(add(kScopeB, run("run_9")));
    std::optional<std::string> more;
    QCOMPARE(list({.limit = 2}, &more), (std::vector<std::string>{"run_5", "run_4"}));
    QCOMPARE(list({.beforeId = *more, .limit = 4}, &more),
             (std::vector<std::string>{"run_3", "run_2", "run_1", "run_0"}));
    QVERIFY(!more);
    QCOMPARE(list({.state = "failed"}), (std::vector<std::string>{"run_5", "run_3", "run_1"}));
    QCOMPARE(list({.agent = "other"}), (std::vector<std::string>{"run_3"}));
    QCOMPARE(list({.skill = "demo"}), (std::vector<std::string>{"run_5", "run_4"}));
    QCOMPARE(list({.since = m_now + 8h}), (std::vector<std::string>{"run_5", "run_4"}));
    QCOMPARE(list({.state = "running", .skill = "demo"}), (std::vector<std::string>{"run_4"}));
}

void TestRunTables::interruptsWhatDidNotEnd()
{
    RunRow ended = run("run_1", "succeeded");
    ended.endedAt = m_now;
    ASSAY_OK(add(kScopeA, ended));
    ASSAY_OK(add(kScopeA, run("run_2", "running")));
    ASSAY_OK(add(kScopeB, run("run_3", "queued")));
    const auto keys = m_database->read([](Connection& connection) { return RunTable(connection).unfinished(10); });
    QCOMPARE(keys->size(), 2);
    const auto count =
        write([&](Connection& connection) { return RunTable(connection).interruptUnfinished(m_now + 1h, "restart"); });
    QCOMPARE(count.value(), 2);
    QCOMPARE(find(kScopeA, "run_1")->state, "succeeded");
    QCOMPARE(find(kScopeA, "run_2")->state, "failed");
    QCOMPARE(find(kScopeB, "run_3")->reason, "interrupted");
    QCOMPARE(find(kScopeB, "run_3")->endedAt, std::optional(m_now + 1h));
}

void TestRunTables::commandsKeepOutputByteExact()
{
    ASSAY_OK(add(kScopeA, run("run_1")));
    CommandRow row{.id = "cmd_1", .state = "running", .createdAt = m_now};
    const auto put = [&] {
        return write([&](Connection& connection) { return CommandTable(connection).put(kScopeA, "run_1", row); });
    };
    ASSAY_OK(put());
    row.state = "ended";
    row.exitCode = 3;
    row.out = {std::string("\0\xff", 2), "tail", 1000};
    ASSAY_OK(put());
    const auto found = m_database->read(
        [&](Connection& connection) { return CommandTable(connection).find(kScopeA, "run_1", "cmd_1"); });
    QCOMPARE((*found)->out.head, row.out.head);
    QCOMPARE((*found)->out.totalBytes, 1000);
    QCOMPARE((*found)->exitCode, std::optional<std::int64_t>(3));
    QVERIFY(!(*found)->signal);
    const auto list = m_database->read(
        [&](Connection& connection) { return CommandTable(connection).list(kScopeA, "run_1", WithOutput::No, 10); });
    QCOMPARE(list->size(), 1);
    QVERIFY(list->at(0).out.head.empty());
    const auto theirs = m_database->read(
        [&](Connection& connection) { return CommandTable(connection).find(kScopeB, "run_1", "cmd_1"); });
    QVERIFY(!*theirs);
}

void TestRunTables::artifactsAreListedByPath()
{
    ASSAY_OK(add(kScopeA, run("run_1")));
    for (const char* path : {"b", "a/x", "c"})
        ASSAY_OK(write([&](Connection& connection) {
            return ArtifactTable(connection)
                .insert(kScopeA,
                        {std::string("art_") + path, "run_1", path, Digest::ofBytes(path), 1, "text/plain", m_now});
        }));
    const auto list = [&](const char* scope, const char* after) {
        return m_database
            ->read([&](Connection& connection) { return ArtifactTable(connection).list(scope, "run_1", after, 2); })
            .value();
    };
    QCOMPARE(list(kScopeA, "").at(0).path, "a/x");
    QCOMPARE(list(kScopeA, "b").at(0).path, "c");
    QVERIFY(list(kScopeB, "").empty());
    const auto theirs =
        m_database->read([&](Connection& connection) { return ArtifactTable(connection).find(kScopeB, "art_b"); });
    QVERIFY(!*theirs);
}

void TestRunTables::eventsAreReplacedAndBounded()
{
    ASSAY_OK(add(kScopeA, run("run_1")));
    const auto put = [&](std::string_view events) {
        return write([&](Connection& connection) { return RunEventTable(connection).put(kScopeA, "run_1", events); });
    };
    ASSAY_OK(put("one"));
    ASSAY_OK(put("two"));
    const auto found =
        m_database->read([&](Connection& connection) { return RunEventTable(connection).find(kScopeA, "run_1"); });
    QCOMPARE(*found, std::optional<std::string>("two"));
    ASSAY_FAILS(put(std::string(RunEventTable::kMaxBytes + 1, 'x')), ErrorCode::TooLarge);
}

void TestRunTables::nothingBelongsToAMissingRun()
{
    QVERIFY(!write([&](Connection& connection) { return RunEventTable(connection).put(kScopeA, "run_1", "x"); }));
    QVERIFY(!write([&](Connection& connection) {
        return CommandTable(connection).put(kScopeA, "run_1", {.id = "cmd_1", .createdAt = m_now});
    }));
}

QTEST_GUILESS_MAIN(TestRunTables)
#include "tst_run_tables.moc"
