// SPDX-License-Identifier: Apache-2.0
#include "server/api/stored_tokens.h"
#include "server/auth/token_service.h"
#include "tests/support/test_support.h"

#include <QTemporaryDir>

using namespace assay;

class TestStoredTokens : public QObject
{
    Q_OBJECT

private slots:
    void tokensSurviveARestart();
    void theDatabaseHoldsNoSecret();
};

namespace {

const contract::CreateToken kRequest{
    .name = "ci", .scope = {{"org", "unmistakable-scope"}}, .roles = {"viewer", "operator"}, .principal = "ann"};

std::unique_ptr<store::Database> open(const QTemporaryDir& dir)
{
    return store::Database::open({.file = dir.filePath("a.db").toStdString()}).value();
}

} // namespace

void TestStoredTokens::tokensSurviveARestart()
{
    const QTemporaryDir dir;
    const test::FakeClock clock;
    contract::CreatedToken created;
    auto database = open(dir);
    {
        api::StoredTokens tokens(*database);
        auth::Authenticator authenticator(tokens, clock);
        created = auth::TokenService(tokens, authenticator, clock).create(kRequest).value();
    }
    database.reset();
    database = open(dir);
    api::StoredTokens tokens(*database);
    auth::Authenticator authenticator(tokens, clock);
    auth::TokenService service(tokens, authenticator, clock);
    const auto identity = authenticator.fromBearer("Bearer " + created.secret);
    ASSAY_OK(identity);
    QCOMPARE(identity->principal, "ann");
    QCOMPARE(identity->scopeFingerprint, created.token.scopeFingerprint);
    QVERIFY(identity->roles.contains(auth::Role::Operator));
    QCOMPARE(service.list({}).value().items.size(), 1U);
    ASSAY_OK(service.revoke(created.token.id));
    ASSAY_FAILS(authenticator.fromBearer("Bearer " + created.secret), ErrorCode::Unauthenticated);
    QVERIFY(service.find(created.token.id).value().revokedAt.has_value());
}

void TestStoredTokens::theDatabaseHoldsNoSecret()
{
    const QTemporaryDir dir;
    const test::FakeClock clock;
    auto database = open(dir);
    api::StoredTokens tokens(*database);
    auth::Authenticator authenticator(tokens, clock);
    const auto created = auth::TokenService(tokens, authenticator, clock).create(kRequest).value();
    database.reset();
    for (const QFileInfo& file : QDir(dir.path()).entryInfoList(QDir::Files)) {
        QFile opened(file.filePath());
        QVERIFY(opened.open(QIODevice::ReadOnly));
        const QByteArray bytes = opened.readAll();
        QVERIFY(!bytes.contains(created.secret.c_str()));
        QVERIFY(!bytes.contains("unmistakable-scope"));
    }
}

QTEST_APPLESS_MAIN(TestStoredTokens)
#include "tst_stored_tokens.moc"
