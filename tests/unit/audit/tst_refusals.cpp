// SPDX-License-Identifier: Apache-2.0
#include "server/audit/refusals.h"
#include "tests/support/audit_records.h"

using namespace assay;
using namespace assay::audit;
using namespace std::chrono_literals;
using test::kScopeA;

class TestRefusals : public QObject
{
    Q_OBJECT

private slots:
    void init();
    void cleanup();
    void repeatedDenialsBecomeOneRowWithACount();
    void differentDenialsAreKeptApart();
    void aCountIsWrittenAtTheEnd();
    void episodesAreBounded();

private:
    std::vector<Row> rows()
    {
        return m_database
            ->read([&](store::Connection& connection) { return LedgerTable(connection).after(kScopeA, 0, 10'000); })
            .value();
    }
    Record denied(std::string actor = "ann") const
    {
        auto out = recordBy(test::someone(kScopeA, std::move(actor)), Operation::SkillPublish, Decision::Refused,
                            ResourceType::Route, "POST:/v1/skills");
        out.metadata.reason = "role";
        return out;
    }

    test::FakeClock m_clock;
    std::unique_ptr<test::StoreFixture> m_store;
    store::Database* m_database = nullptr;
    std::unique_ptr<Ledger> m_ledger;
    std::unique_ptr<Refusals> m_refusals;
};

void TestRefusals::init()
{
    m_store = std::make_unique<test::StoreFixture>();
    m_database = &m_store->open();
    m_ledger = std::make_unique<Ledger>(*m_database, m_clock);
    m_refusals = std::make_unique<Refusals>(*m_ledger, m_clock);
}

void TestRefusals::cleanup()
{
    m_refusals.reset();
    m_ledger.reset();
    m_store.reset();
}

void TestRefusals::repeatedDenialsBecomeOneRowWithACount()
{
    for (int i = 0; i < 1000; ++i)
        m_refusals->note(denied());
    QCOMPARE(rows().size(), std::size_t{Refusals::kAlone});
    m_refusals->endOld();
    QCOMPARE(rows().size(), std::size_t{Refusals::kAlone});
    m_clock.advance(Refusals::kEpisode);
    m_refusals->endOld();
    m_refusals->endOld();
    QCOMPARE(rows().size(), std::size_t{Refusals::kAlone} + 1);
    QCOMPARE(rows().back().occurrences, 1000 - Refusals::kAlone);
    QCOMPARE(rows().back().metadata.reason, "role");
    m_refusals->note(denied()); // a new episode
    QCOMPARE(rows().size(), std::size_t{Refusals::kAlone} + 2);
}

void TestRefusals::differentDenialsAreKeptApart()
{
    for (const char* actor : {"ann", "bob"})
        for (int i = 0; i < 2; ++i)
            m_refusals->note(denied(actor));
    QCOMPARE(rows().size(), 4);
}

void TestRefusals::aCountIsWrittenAtTheEnd()
{
    for (int i = 0; i < 10; ++i)
        m_refusals->note(denied());
    m_refusals.reset();
    QCOMPARE(rows().back().occurrences, 10 - Refusals::kAlone);
}

void TestRefusals::episodesAreBounded()
{
    for (int i = 0; i < 5; ++i)
        m_refusals->note(denied("first"));
    m_clock.advance(1ms);
    for (std::size_t i = 0; i < Refusals::kMaxEpisodes; ++i)
        m_refusals->note(denied("actor" + std::to_string(i)));
    const auto all = rows();
    const auto folded = std::ranges::find_if(all, [](const Row& row) { return row.occurrences == 2; });
    QVERIFY(folded != all.end());
    QCOMPARE(folded->actor, "first");
}

QTEST_APPLESS_MAIN(TestRefusals)
#include "tst_refusals.moc"
