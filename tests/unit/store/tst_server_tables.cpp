// SPDX-License-Identifier: Apache-2.0
#include "server/store/idempotency_table.h"
#include "server/store/server_state_table.h"
#include "server/store/token_table.h"
#include "tests/support/store_fixture.h"

using namespace assay;
using namespace assay::store;
using namespace std::chrono_literals;
using test::kScopeA;
using test::kScopeB;

class TestServerTables : public QObject
{
    Q_OBJECT

private slots:
    void init();
    void cleanup() { m_store.reset(); }
    void tokensAreFoundBySecretAndRevokedOnce();
    void tokensAreUniqueAndListedByAge();
    void answersAreKeptPerScopeRouteAndKey();
    void answersExpire();
    void serverValuesAreWrittenOnce();

private:
    template <typename Job> auto write(Job job) { return m_database->write(job); }
    const Timestamp m_now{1'795'000'000'000ms};
    std::unique_ptr<test::StoreFixture> m_store;
    Database* m_database = nullptr;
};

void TestServerTables::init()
{
    m_store = std::make_unique<test::StoreFixture>();
    m_database = &m_store->open();
}

void TestServerTables::tokensAreFoundBySecretAndRevokedOnce()
{
    const Digest secret = Digest::ofBytes("secret");
    const auto done = write([&](Connection& connection) -> Result<void> {
        TokenTable tokens(connection);
        const TokenRow row{"tok_1", kScopeA, secret, "ann", 3, "laptop", m_now, m_now + 1h, std::nullopt};
        if (auto added = tokens.insert(row); !added)
            return added;
        const auto found = tokens.findBySecretHash(secret);
        const bool same = found && *found && (*found)->fingerprint == kScopeA && (*found)->roles == 3 &&
                          (*found)->principal == "ann" && (*found)->expiresAt == m_now + 1h && !(*found)->revokedAt;
        const bool revoked = tokens.revoke("tok_1", m_now).value() && tokens.revoke("tok_1", m_now + 5h).value() &&
                             !tokens.revoke("tok_2", m_now).value();
        const bool kept = (*tokens.find("tok_1"))->revokedAt == m_now;
        const bool none = !*tokens.findBySecretHash(Digest::ofBytes("other")) && !*tokens.find("tok_2");
        return same && revoked && kept && none ? Result<void>{} : fail(ErrorCode::Internal, "differs");
    });
    ASSAY_OK(done);
}

void TestServerTables::tokensAreUniqueAndListedByAge()
{
    const auto add = [&](const char* id, const char* secret) {
        return write([&](Connection& connection) {
            return TokenTable(connection).insert({id, kScopeA, Digest::ofBytes(secret), "", 1, "", m_now, {}, {}});
        });
    };
    ASSAY_OK(add("tok_2", "b"));
    ASSAY_OK(add("tok_1", "a"));
    ASSAY_FAILS(add("tok_1", "c"), ErrorCode::Conflict);
    ASSAY_FAILS(add("tok_3", "a"), ErrorCode::Conflict);
    const auto list = [&](const char* after, std::uint32_t limit) {
        return m_database->read([&](Connection& connection) { return TokenTable(connection).list(after, limit); });
    };
    QCOMPARE(list("", 10)->size(), 2);
    QCOMPARE(list("", 1)->at(0).id, "tok_1");
    QCOMPARE(list("tok_1", 1)->at(0).id, "tok_2");
}

void TestServerTables::answersAreKeptPerScopeRouteAndKey()
{
    const IdempotencyRow row{
        "POST /v1/skills", "key", Digest::ofBytes("body"), 201, "{}", std::string("a\0b", 3), m_now, m_now + 24h};
    const auto insert = [&](const char* scope, IdempotencyRow kept) {
        return write([&](Connection& connection) { return IdempotencyTable(connection).insert(scope, kept); });
    };
    QVERIFY(insert(kScopeA, row).value());
    QVERIFY(!insert(kScopeA, row).value());
    QVERIFY(insert(kScopeB, row).value());
    const auto find = [&](const char* scope, const char* route, const char* key) {
        return m_database
            ->read([&](Connection& connection) { return IdempotencyTable(connection).find(scope, route, key, m_now); })
            .value();
    };
    QCOMPARE(find(kScopeA, "POST /v1/skills", "key")->body, row.body);
    QVERIFY(find(kScopeA, "POST /v1/skills", "key")->requestDigest == row.requestDigest);
    QVERIFY(!find("sc_c", "POST /v1/skills", "key"));
    QVERIFY(!find(kScopeA, "POST /v1/runs", "key"));
    QVERIFY(!find(kScopeA, "POST /v1/skills", "KEY"));
}

void TestServerTables::answersExpire()
{
    const auto done = write([&](Connection& connection) -> Result<void> {
        IdempotencyTable answers(connection);
        for (int i = 0; i < 5; ++i)
            (void)answers.insert(kScopeA, {"r", std::to_string(i), Digest(), 200, "", "old", m_now, m_now + 1h});
        const bool gone = !*answers.find(kScopeA, "r", "0", m_now + 1h) && *answers.find(kScopeA, "r", "0", m_now);
        const bool replaced =
            answers.insert(kScopeA, {"r", "0", Digest(), 200, "", "new", m_now + 2h, m_now + 3h}).value() &&
            (*answers.find(kScopeA, "r", "0", m_now + 2h))->body == "new";
        const bool pruned = answers.removeExpired(m_now + 2h, 3).value() == 3 &&
                            answers.removeExpired(m_now + 2h, 3).value() == 1 &&
                            answers.removeExpired(m_now + 2h, 3).value() == 0;
        return gone && replaced && pruned ? Result<void>{} : fail(ErrorCode::Internal, "differs");
    });
    ASSAY_OK(done);
}

void TestServerTables::serverValuesAreWrittenOnce()
{
    const auto once = [&](const char* value) {
        return write([&](Connection& connection) { return ServerStateTable(connection).findOrPut("key", value); });
    };
    QCOMPARE(once("a").value(), "a");
    QCOMPARE(once("b").value(), "a");
}

QTEST_GUILESS_MAIN(TestServerTables)
#include "tst_server_tables.moc"
