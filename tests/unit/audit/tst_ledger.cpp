// SPDX-License-Identifier: Apache-2.0
#include "server/audit/ledger.h"
#include "server/audit/page_sql.h"
#include "tests/support/audit_records.h"

#include <list>
#include <thread>

using namespace assay;
using namespace assay::audit;
using namespace std::chrono_literals;
using store::Connection;
using test::kScopeA;
using test::kScopeB;

class TestLedger : public QObject
{
    Q_OBJECT

private slots:
    void init();
    void cleanup();
    void chainsTheRowsOfEachScope();
    void aFailedJobLeavesNoGap();
    void manyWritersMakeOneChain();
    void rowsCannotBeChangedOrTakenOut();
    void aReservationHasOneEnd();
    void whatWasReservedAndNotEndedIsUnknown();
    void listsNewestFirstWithEveryFilter();
    void aPageGoesOnWhereItEnded();
    void aRareMatchIsReachedInBoundedSteps();
    void everyFilterIsLedByAnIndex();

private:
    template <typename Job> auto write(Job job) { return m_database->write(job); }
    std::vector<Row> chain(const char* scope)
    {
        return m_database->read([&](Connection& c) { return LedgerTable(c).after(scope, 0, 10'000); }).value();
    }
    LedgerTable::Listed list(const RowQuery& query)
    {
        return m_database->read([&](Connection& c) { return LedgerTable(c).list(kScopeA, query); }).value();
    }
    bool holds(const std::vector<Row>& rows) const;

    test::FakeClock m_clock;
    std::unique_ptr<test::StoreFixture> m_store;
    store::Database* m_database = nullptr;
    std::unique_ptr<Ledger> m_ledger;
};

void TestLedger::init()
{
    m_store = std::make_unique<test::StoreFixture>();
    m_database = &m_store->open();
    m_ledger = std::make_unique<Ledger>(*m_database, m_clock);
}

void TestLedger::cleanup()
{
    m_ledger.reset();
    m_store.reset();
}

bool TestLedger::holds(const std::vector<Row>& rows) const
{
    Digest previous = genesisOf(rows.empty() ? "" : rows.front().fingerprint);
    std::int64_t seq = 0;
    for (const Row& row : rows) {
        if (row.seq != ++seq || row.previous != previous || row.hash != hashOf(row))
            return false;
        previous = row.hash;
    }
    return true;
}

void TestLedger::chainsTheRowsOfEachScope()
{
    for (const char* scope : {kScopeA, kScopeB, kScopeA, "", kScopeA})
        ASSAY_OK(m_ledger->record(test::published(scope)));
    QCOMPARE(chain(kScopeA).size(), 3);
    QCOMPARE(chain(kScopeB).size(), 1);
    QCOMPARE(chain("").size(), 1);
    for (const char* scope : {kScopeA, kScopeB, ""})
        QVERIFY(holds(chain(scope)));
    const Row row = chain(kScopeA).back();
    QCOMPARE(row.operation, "skill.publish");
    QCOMPARE(row.metadata.surface, "api");
    QVERIFY(row.at == m_clock.now());
}

void TestLedger::aFailedJobLeavesNoGap()
{
    ASSAY_OK(m_ledger->record(test::published(kScopeA)));
    const auto failed = write([&](Connection& connection) -> Result<void> {
        if (auto added = m_ledger->append(connection, test::published(kScopeA)); !added)
            return added;
        return fail(ErrorCode::Conflict, "on purpose");
    });
    ASSAY_FAILS(failed, ErrorCode::Conflict);
    ASSAY_OK(m_ledger->record(test::published(kScopeA)));
    QCOMPARE(chain(kScopeA).size(), 2);
    QVERIFY(holds(chain(kScopeA)));
}

void TestLedger::manyWritersMakeOneChain()
{
    constexpr int kWriters = 16;
    constexpr int kEach = 50;
    std::atomic<int> failures{0};
    {
        std::vector<std::jthread> writers;
        for (int i = 0; i < kWriters; ++i)
            writers.emplace_back([&, i] {
                for (int n = 0; n < kEach; ++n) {
                    // Every fifth job fails after it appended.
                    const bool fails = (n + i) % 5 == 0;
                    const auto done = m_database->write([&](Connection& connection) -> Result<void> {
                        auto added = m_ledger->append(connection, test::published(i % 2 ? kScopeA : kScopeB));
                        return added && fails ? fail(ErrorCode::Conflict, "on purpose") : added;
                    });
                    failures += done.has_value() == fails;
                }
            });
    }
    QCOMPARE(failures.load(), 0);
    QCOMPARE(chain(kScopeA).size() + chain(kScopeB).size(), std::size_t{kWriters * kEach * 4 / 5});
    QVERIFY(holds(chain(kScopeA)) && holds(chain(kScopeB)));
}

void TestLedger::rowsCannotBeChangedOrTakenOut()
{
    ASSAY_OK(m_ledger->record(test::published(kScopeA)));
    for (const char* sql : {"UPDATE ledger SET actor = 'eve'", "DELETE FROM ledger"})
        QVERIFY(!write([&](Connection& connection) { return connection.execute(sql); }));
    QVERIFY(holds(chain(kScopeA)));
}

void TestLedger::aReservationHasOneEnd()
{
    const auto seq = write([&](Connection& connection) {
        return m_ledger->reserve(connection, test::command(kScopeA, Decision::Allowed));
    });
    ASSAY_OK(seq);
    for (int i = 0; i < 2; ++i) {
        const auto ended = write([&](Connection& connection) {
            return m_ledger->complete(connection, *seq, test::command(kScopeA, Decision::Executed));
        });
        ASSAY_OK(ended);
    }
    const auto rows = chain(kScopeA);
    QCOMPARE(rows.size(), 2);
    QCOMPARE(rows[1].reservation.value(), rows[0].seq);
    QCOMPARE(rows[1].decision, "executed");
    QCOMPARE(m_ledger->recover().value(), 0U);
}

void TestLedger::whatWasReservedAndNotEndedIsUnknown()
{
    for (int i = 0; i < 3; ++i)
        ASSAY_OK(write([&](Connection& connection) {
            return m_ledger->reserve(connection, test::command(i % 2 ? kScopeB : kScopeA, Decision::Allowed));
        }));
    QCOMPARE(m_ledger->recover().value(), 3U);
    QCOMPARE(m_ledger->recover().value(), 0U);
    const auto rows = chain(kScopeA);
    QCOMPARE(rows.size(), 4);
    QCOMPARE(rows[2].decision, "outcome_unknown");
    QCOMPARE(rows[2].reservation.value(), 1);
    QCOMPARE(rows[2].resource, test::kCommandId);
    QCOMPARE(rows[2].run, test::kRunId);
    QCOMPARE(rows[2].actor, "server");
    QCOMPARE(rows[3].reservation.value(), 2);
    QVERIFY(holds(rows) && holds(chain(kScopeB)));
}

void TestLedger::listsNewestFirstWithEveryFilter()
{
    ASSAY_OK(m_ledger->record(test::published(kScopeA, "one")));
    m_clock.advance(10ms);
    auto refused = test::command(kScopeA, Decision::Refused);
    refused.actor = "bob";
    ASSAY_OK(m_ledger->record(refused));
    m_clock.advance(10ms);
    ASSAY_OK(m_ledger->record(test::published(kScopeA, "two")));
    ASSAY_OK(m_ledger->record(test::published(kScopeB, "other")));
    const Timestamp now = m_clock.now();

    const auto seqs = [&](const RowQuery& query) {
        std::string out;
        for (const Row& row : list(query).rows)
            out += std::to_string(row.seq);
        return out;
    };
    QCOMPARE(seqs({}), "321");
    QCOMPARE(seqs({.decision = "refused"}), "2");
    QCOMPARE(seqs({.operation = "skill.publish"}), "31");
    QCOMPARE(seqs({.actor = "bob"}), "2");
    QCOMPARE(seqs({.run = test::kRunId}), "2");
    QCOMPARE(seqs({.since = now - 10ms}), "32");
    QCOMPARE(seqs({.until = now}), "21");
    QCOMPARE(seqs({.since = now - 10ms, .until = now}), "2");
    QCOMPARE(seqs({.decision = "allowed", .operation = "skill.publish", .actor = "ann", .until = now}), "1");
    QCOMPARE(seqs({.decision = "refused", .actor = "ann"}), "");
}

void TestLedger::aPageGoesOnWhereItEnded()
{
    // All of one millisecond, so that only the number orders them.
    for (int i = 0; i < 7; ++i)
        ASSAY_OK(m_ledger->record(test::published(kScopeA)));
    RowQuery query{.operation = "skill.publish", .limit = 3};
    std::string seen;
    for (int page = 0; page < 3; ++page) {
        const auto listed = list(query);
        for (const Row& row : listed.rows)
            seen += std::to_string(row.seq);
        QCOMPARE(listed.more.has_value(), page < 2);
        query.before = listed.more;
    }
    QCOMPARE(seen, "7654321");
}

void TestLedger::aRareMatchIsReachedInBoundedSteps()
{
    auto rare = test::published(kScopeA);
    rare.actor = "bob";
    rare.decision = Decision::Refused;
    ASSAY_OK(m_ledger->record(rare));
    ASSAY_OK(write([&](Connection& connection) -> Result<void> {
        for (std::uint32_t i = 0; i < LedgerTable::kMaxScanned + 10; ++i)
            if (auto added = m_ledger->append(connection, test::published(kScopeA)); !added)
                return added;
        return {};
    }));
    RowQuery query{.decision = "refused", .operation = "skill.publish"};
    auto listed = list(query);
    QCOMPARE(listed.rows.size(), 0);
    QVERIFY(listed.more);
    query.before = listed.more;
    listed = list(query);
    QCOMPARE(listed.rows.size(), 1);
    QVERIFY(!listed.more);
}

// A page never sorts and never walks the table.
void TestLedger::everyFilterIsLedByAnIndex()
{
    const std::map<std::string, RowQuery> queries{{"ledger_by_time", {}},
                                                  {"ledger_by_decision", {.decision = "refused"}},
                                                  {"ledger_by_operation", {.decision = "refused", .operation = "x"}},
                                                  {"ledger_by_actor", {.operation = "x", .actor = "ann"}},
                                                  {"ledger_by_run", {.actor = "ann", .run = test::kRunId}}};
    for (const auto& [index, query] : queries) {
        static std::list<std::string> kept; // a connection caches statements by their literals
        const std::string& sql = kept.emplace_back("EXPLAIN QUERY PLAN " + std::string(pageSql(query)));
        const auto plan = m_database->read([&](Connection& connection) -> Result<std::string> {
            auto explained = connection.prepare(sql);
            if (!explained)
                return forward(explained);
            std::string out;
            while (explained->step().value())
                out += std::string(explained->text(3)) + "; ";
            return out;
        });
        ASSAY_OK(plan);
        QVERIFY2(plan->contains("SEARCH ledger USING INDEX " + index + " (fingerprint=?"), plan->c_str());
        QVERIFY2(plan->contains("at<?") && !plan->contains("TEMP B-TREE") && !plan->contains("SCAN"), plan->c_str());
    }
}

QTEST_APPLESS_MAIN(TestLedger)
#include "tst_ledger.moc"
