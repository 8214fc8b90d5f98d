// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/runs/execution_fixture.h"

using namespace assay;
using namespace assay::runs;

/// What an execution writes into the ledger, and for whom it executes at all.
class TestExecutionLedger : public QObject, private test::ExecutionFixture
{
    Q_OBJECT

private slots:
    void init() { setUp(); }
    void cleanup() { m_world.reset(); }
    void theEndOfARunsCommandRidesWithTheRunsEnd();
    void aSessionsCommandEndsInTheLedgerBeforeItIsAnswered();
    void whatNeverStartedIsRefusedInTheLedger();
    void aForgedExpiredForeignOrReplayedSessionExecutesNothing();
    void aCancelledRunExecutesNothingThatWaited();
    void theBrokerAsksAgainWhetherTheRunGoesOn();
};

void TestExecutionLedger::theEndOfARunsCommandRidesWithTheRunsEnd()
{
    m_world->records.completeFails = true; // nobody asks for it
    m_world->execute();
    QCOMPARE(endings(), "1:executed:exited ");
    const audit::Record& record = m_world->records.endings.front().record;
    QCOMPARE(record.actor, "ann");
    QCOMPARE(record.resource, test::kCommandId);
    QCOMPARE(record.metadata.exitCode.value(), 0);
    QVERIFY(record.metadata.wallMs && record.metadata.workspaceKib);
    QVERIFY(m_world->reports.empty());
}

void TestExecutionLedger::aSessionsCommandEndsInTheLedgerBeforeItIsAnswered()
{
    use(plan(true));
    ASSAY_OK(add({"one"}));
    const auto second = add({"two"});
    std::string before;
    std::jthread waiter([&] {
        (void)m_world->run->waitCommand(*second, std::chrono::steady_clock::now() + std::chrono::seconds(5));
        before = endings();
        m_world->run->finish();
    });
    m_world->execute();
    waiter.join();
    QCOMPARE(before, "1:executed:exited 2:executed:exited ");
    QCOMPARE(endings(), before);
    // One that cannot be written is not lost: it comes with the next, or with the run's end.
    m_world->records.endings.clear();
    m_world->records.completeFails = true;
    use(plan(true));
    ASSAY_OK(add({"three"}));
    m_world->run->finish();
    m_world->execute();
    QCOMPARE(endings(), "3:executed:exited ");
    QCOMPARE(m_world->reports.size(), 1U);
}

void TestExecutionLedger::whatNeverStartedIsRefusedInTheLedger()
{
    m_world->box.verifyError = refuse("digest_mismatch", "run.py differs").error();
    m_world->execute();
    QCOMPARE(endings(), "1:refused:digest_mismatch ");
    m_world->records.endings.clear();
    m_world->box.verifyError.reset();
    m_world->box.runError = fail(ErrorCode::NotFound, "no such program").error();
    use(plan());
    m_world->execute();
    QCOMPARE(endings(), "1:refused:not_started ");
}

void TestExecutionLedger::theBrokerAsksAgainWhetherTheRunGoesOn()
{
    use(plan(true));
    const auto carrier = m_world->broker.admit(m_by, *m_world->run).value();
    ASSAY_OK(m_world->broker.open(carrier, *m_world->run));
    m_world->run->cancel("cancelled");
    const auto late = m_world->broker.open(carrier, *m_world->run);
    ASSAY_FAILS(late, ErrorCode::Refused);
    QCOMPARE(late.error().reason, "run_over");
}

void TestExecutionLedger::aForgedExpiredForeignOrReplayedSessionExecutesNothing()
{
    use(plan(true));
    const auto good = m_world->broker.admit(m_by, *m_world->run).value();
    const auto foreign = m_world->broker.sealFor(test::someone(test::kScopeB), m_world->run->plan().runId).value();
    const auto replayed = m_world->broker.sealFor(m_by, "run_01JBBBBBBBBBBBBBBBBBBBBBBB").value();
    std::string forged = good;
    forged[forged.size() / 2] = forged[forged.size() / 2] == 'A' ? 'B' : 'A';
    const std::string truncated = good.substr(0, good.size() - 4);
    for (const std::string& carrier : {std::string(), forged, truncated, foreign, replayed})
        ASSAY_OK(add({"x"}, carrier));
    m_world->run->finish();
    m_world->execute();
    QCOMPARE(endings(), "1:refused:session_invalid 2:refused:session_invalid 3:refused:session_invalid "
                        "4:refused:session_scope 5:refused:session_run ");
    QCOMPARE(m_world->records.noted.size(), 5U);
    for (const audit::Record& record : m_world->records.noted) {
        QVERIFY(record.operation == audit::Operation::SessionOpen && record.decision == audit::Decision::Refused);
        QCOMPARE(record.scopeFingerprint, test::kScopeA);
        QCOMPARE(record.actor, "server"); // what the carrier says is not believed
    }
    QCOMPARE(m_world->box.commands.size(), 0U);

    use(plan(true));
    ASSAY_OK(add({"x"}));
    m_world->clock.advance(SessionSealer::kLifetime);
    m_world->run->finish();
    m_world->records.endings.clear();
    m_world->execute();
    QCOMPARE(endings(), "6:refused:session_expired ");
    QCOMPARE(m_world->box.commands.size(), 0U);
    QVERIFY(!m_world->broker.admit(test::someone(test::kScopeB), *m_world->run));
}

void TestExecutionLedger::aCancelledRunExecutesNothingThatWaited()
{
    use(plan(true));
    m_world->box.blockUntilCancelled = true;
    ASSAY_OK(add({"one"}));
    ASSAY_OK(add({"two"}));
    std::jthread canceller([&] {
        while (!m_world->box.running)
            std::this_thread::yield();
        m_world->run->cancel("cancelled");
    });
    m_world->box.result.termination = sandbox::Termination::Cancelled;
    m_world->execute();
    QCOMPARE(endings(), "1:terminated:cancelled 2:refused:cancelled ");
    ASSAY_FAILS(add({"three"}), ErrorCode::Conflict);
}

QTEST_APPLESS_MAIN(TestExecutionLedger)
#include "tst_execution_ledger.moc"
