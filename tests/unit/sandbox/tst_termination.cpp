// SPDX-License-Identifier: Apache-2.0
#include "server/sandbox/termination.h"
#include "tests/support/test_support.h"

using namespace assay;
using namespace assay::sandbox;

class TestTermination : public QObject
{
    Q_OBJECT

private slots:
    void tellsTheFirstTrueCause();
    void aKillThatCameTooLateIsNoCause();
    void refusedForksOnlyCountForAFailedCommand();
    void namesAreTheContracts();
};

void TestTermination::tellsTheFirstTrueCause()
{
    EndFacts facts{.killReason = KillReason::Cancelled,
                   .killTookEffect = true,
                   .overQuota = true,
                   .outputCapBroken = true,
                   .outOfMemory = true,
                   .processesDenied = true,
                   .signal = 9};
    QCOMPARE(terminationOf(facts), Termination::Cancelled);
    facts.killReason = KillReason::Timeout;
    QCOMPARE(terminationOf(facts), Termination::Timeout);
    facts.killReason = KillReason::None;
    QCOMPARE(terminationOf(facts), Termination::DiskQuotaExceeded);
    facts.overQuota = false;
    QCOMPARE(terminationOf(facts), Termination::OutputCapExceeded);
    facts.outputCapBroken = false;
    QCOMPARE(terminationOf(facts), Termination::MemoryExceeded);
    facts.outOfMemory = false;
    QCOMPARE(terminationOf(facts), Termination::PidsExceeded);
    facts.processesDenied = false;
    QCOMPARE(terminationOf(facts), Termination::Signalled);
    facts.signal.reset();
    facts.exitCode = 3;
    QCOMPARE(terminationOf(facts), Termination::Exited);
    facts.exitCode.reset();
    facts.boxLost = true;
    QCOMPARE(terminationOf(facts), Termination::BoxLost);
}

void TestTermination::aKillThatCameTooLateIsNoCause()
{
    QCOMPARE(terminationOf({.killReason = KillReason::Timeout, .exitCode = 0}), Termination::Exited);
    QCOMPARE(terminationOf({.killReason = KillReason::Cancelled, .signal = 11}), Termination::Signalled);
}

void TestTermination::refusedForksOnlyCountForAFailedCommand()
{
    QCOMPARE(terminationOf({.processesDenied = true, .exitCode = 0}), Termination::Exited);
    QCOMPARE(terminationOf({.processesDenied = true, .exitCode = 1}), Termination::PidsExceeded);
}

void TestTermination::namesAreTheContracts()
{
    QCOMPARE(terminationName(Termination::Exited), "exited");
    QCOMPARE(terminationName(Termination::Timeout), "timeout");
    QCOMPARE(terminationName(Termination::Cancelled), "cancelled");
    QCOMPARE(terminationName(Termination::OutputCapExceeded), "output_cap_exceeded");
    QCOMPARE(terminationName(Termination::DiskQuotaExceeded), "disk_quota_exceeded");
    QCOMPARE(terminationName(Termination::MemoryExceeded), "memory_exceeded");
    QCOMPARE(terminationName(Termination::PidsExceeded), "pids_exceeded");
    QCOMPARE(terminationName(Termination::Signalled), "signalled");
    QCOMPARE(terminationName(Termination::BoxLost), "box_lost");
}

QTEST_GUILESS_MAIN(TestTermination)
#include "tst_termination.moc"
