// SPDX-License-Identifier: Apache-2.0
#include "server/runs/execution_session.h"
#include "tests/support/audit_records.h"

#include <QFile>
#include <QTemporaryDir>
#include <sys/stat.h>

using namespace assay;
using namespace assay::runs;
using namespace std::chrono_literals;

class TestExecutionSession : public QObject
{
    Q_OBJECT

private slots:
    void init();
    void opensWhatItSealed();
    void noIdentityNoCapability();
    void anyChangeIsRefused();
    void aForeignKeyIsRefused();
    void expires();
    void anOldKeyOpensItsCarriersUntilTheyExpire();
    void carriersSurviveARestartAndTheKeysArePrivate();
    void aCarrierHoldsNothingButItsFields();

private:
    std::unique_ptr<SessionSealer> open(const std::string& file = {})
    {
        auto out = SessionSealer::open(file, m_clock);
        return out ? std::move(*out) : nullptr;
    }
    test::FakeClock m_clock;
    ExecutionSession m_session;
};

void TestExecutionSession::init() { m_session = sessionOf(test::someone(test::kScopeA), test::kRunId); }

void TestExecutionSession::opensWhatItSealed()
{
    const auto sealer = open();
    const auto carrier = sealer->seal(m_session);
    ASSAY_OK(carrier);
    const auto opened = sealer->open(*carrier);
    ASSAY_OK(opened);
    QVERIFY(*opened == m_session);
    QVERIFY(*sealer->seal(m_session) != *carrier); // a nonce each
    QCOMPARE(identityOf(*opened).principal, "ann");
    QCOMPARE(identityOf(*opened).roles.bits(), 0);
}

void TestExecutionSession::noIdentityNoCapability()
{
    const auto sealer = open();
    for (std::string ExecutionSession::* member :
         {&ExecutionSession::scopeFingerprint, &ExecutionSession::principal, &ExecutionSession::run}) {
        ExecutionSession nobody = m_session;
        (nobody.*member).clear();
        ASSAY_FAILS(sealer->seal(nobody), ErrorCode::Refused);
    }
    QCOMPARE(sealer->open("").error().reason, "session_invalid");
}

void TestExecutionSession::anyChangeIsRefused()
{
    const auto sealer = open();
    const std::string carrier = sealer->seal(m_session).value();
    for (std::size_t i = 0; i < carrier.size(); ++i) {
        std::string changed = carrier;
        changed[i] = changed[i] == 'A' ? 'B' : 'A';
        QCOMPARE(sealer->open(changed).error().reason, "session_invalid");
        QCOMPARE(sealer->open(carrier.substr(0, i)).error().reason, "session_invalid");
    }
    QCOMPARE(sealer->open(carrier + "AAAA").error().reason, "session_invalid");
    QCOMPARE(sealer->open(std::string(1 << 20, 'A')).error().reason, "session_invalid");
    QCOMPARE(sealer->open("\xff\n;drop").error().reason, "session_invalid");
}

void TestExecutionSession::aForeignKeyIsRefused()
{
    const auto carrier = open()->seal(m_session).value();
    QCOMPARE(open()->open(carrier).error().reason, "session_invalid");
}

void TestExecutionSession::expires()
{
    const auto sealer = open();
    const auto carrier = sealer->seal(m_session).value();
    m_clock.advance(SessionSealer::kLifetime - 1ms);
    ASSAY_OK(sealer->open(carrier));
    m_clock.advance(1ms);
    QCOMPARE(sealer->open(carrier).error().reason, "session_expired");
    m_clock.advance(-48h);
    QCOMPARE(sealer->open(carrier).error().reason, "session_expired"); // made in the future
}

void TestExecutionSession::anOldKeyOpensItsCarriersUntilTheyExpire()
{
    const auto sealer = open();
    m_clock.advance(SessionSealer::kKeyAge - 1h);
    const auto last = sealer->seal(m_session).value();
    m_clock.advance(2h);
    const auto next = sealer->seal(m_session).value(); // under a new key
    ASSAY_OK(sealer->open(last));
    ASSAY_OK(sealer->open(next));
    m_clock.advance(SessionSealer::kLifetime);
    QCOMPARE(sealer->open(last).error().reason, "session_expired");
    for (int day = 0; day < 3; ++day) {
        m_clock.advance(SessionSealer::kKeyAge);
        ASSAY_OK(sealer->seal(m_session));
    }
    QCOMPARE(sealer->open(last).error().reason, "session_invalid"); // its key is gone
}

void TestExecutionSession::carriersSurviveARestartAndTheKeysArePrivate()
{
    QTemporaryDir directory;
    const std::string file = directory.filePath("sessions.json").toStdString();
    const auto carrier = open(file)->seal(m_session).value();
    struct stat found{};
    QCOMPARE(::stat(file.c_str(), &found), 0);
    QCOMPARE(found.st_mode & 07777, 0600);
    ASSAY_OK(open(file)->open(carrier));
    QCOMPARE(::chmod(file.c_str(), 0640), 0);
    ASSAY_FAILS(SessionSealer::open(file, m_clock), ErrorCode::Unavailable);
    // Damaged keys open nothing, and new ones are made.
    QCOMPARE(::chmod(file.c_str(), 0600), 0);
    QFile damaged(QString::fromStdString(file));
    QVERIFY(damaged.open(QIODevice::WriteOnly | QIODevice::Truncate));
    damaged.write("[{\"id\": 7}, null, {\"id\": \"x\", \"made_ms\": 1, \"secret\": \"AA==\"}]");
    damaged.close();
    const auto after = open(file);
    QVERIFY(after);
    QCOMPARE(after->open(carrier).error().reason, "session_invalid");
    ASSAY_OK(after->seal(m_session));
}

void TestExecutionSession::aCarrierHoldsNothingButItsFields()
{
    auto by = test::someone(test::kScopeA);
    by.roles = auth::Roles(0xff);
    const auto sealer = open();
    const auto one = sealer->seal(sessionOf(by, test::kRunId)).value();
    by.roles = {};
    QCOMPARE(sealer->seal(sessionOf(by, test::kRunId)).value().size(), one.size());
    QVERIFY(sealer->open(one)->tokenId == by.tokenId);
}

QTEST_APPLESS_MAIN(TestExecutionSession)
#include "tst_execution_session.moc"
