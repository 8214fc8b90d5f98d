// SPDX-License-Identifier: Apache-2.0
#include "server/auth/roles.h"
#include "server/auth/scope.h"
#include "server/auth/token_service.h"
#include "server/core/base64.h"
#include "server/core/ids.h"
#include "tests/support/test_support.h"
#include "tests/unit/auth/memory_token_store.h"

#include <set>

using namespace assay;
using namespace assay::auth;

class TestAuthenticator : public QObject
{
    Q_OBJECT

private slots:
    void init();
    void aTokenGivesItsIdentity();
    void thePrincipalIsTheTokenUnlessGiven();
    void everyBadTokenGetsTheSameAnswer();
    void theStoreNeverSeesASecret();
    void revokingWorksAtOnce();
    void aLookUpThatRacesARevocationIsNotKept();
    void anExpiredTokenIsRefusedFromTheCacheToo();
    void knownTokensAreNotLookedUpAgain();
    void theCacheIsBounded();
    void refusesTokensOutOfBounds();
    void listsInPages();
    void ingressGivesAnIdentity();
    void refusesIngressFieldsOutOfBounds();

private:
    contract::CreatedToken create(const std::vector<std::string>& roles = {"viewer"})
    {
        return m_service->create({.scope = {{"org", "acme"}}, .roles = roles}).value();
    }
    Result<Identity> ask(const std::string& secret) { return m_authenticator->fromBearer("Bearer " + secret); }

    test::FakeClock m_clock;
    std::unique_ptr<test::MemoryTokenStore> m_store;
    std::unique_ptr<Authenticator> m_authenticator;
    std::unique_ptr<TokenService> m_service;
};

void TestAuthenticator::init()
{
    m_store = std::make_unique<test::MemoryTokenStore>();
    m_authenticator = std::make_unique<Authenticator>(*m_store, m_clock);
    m_service = std::make_unique<TokenService>(*m_store, *m_authenticator, m_clock);
}

void TestAuthenticator::aTokenGivesItsIdentity()
{
    const auto created = m_service->create(
        {.name = "ci", .scope = {{"org", "acme"}}, .roles = {"builder", "runner"}, .principal = "ann"});
    ASSAY_OK(created);
    const auto identity = ask(created->secret);
    ASSAY_OK(identity);
    QCOMPARE(identity->scopeFingerprint, scopeFingerprint({{"org", "acme"}}).value());
    QCOMPARE(identity->principal, "ann");
    QCOMPARE(identity->tokenId, created->token.id);
    QCOMPARE(identity->roles, Roles(Role::Builder) | Role::Runner);
}

void TestAuthenticator::thePrincipalIsTheTokenUnlessGiven()
{
    const auto created = create();
    QCOMPARE(ask(created.secret).value().principal, created.token.id);
}

void TestAuthenticator::everyBadTokenGetsTheSameAnswer()
{
    const auto revoked = create();
    ASSAY_OK(m_service->revoke(revoked.token.id));
    const std::string good = create().secret;
    std::set<std::string> messages;
    for (const std::string& header :
         {std::string(), std::string("Bearer "), "Basic " + good, "Bearer x" + good, "Bearer " + good + "x",
          "Bearer " + revoked.secret, std::string("Bearer assay_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA")}) {
        const auto identity = m_authenticator->fromBearer(header);
        ASSAY_FAILS(identity, ErrorCode::Unauthenticated);
        messages.insert(identity.error().message + identity.error().detail);
    }
    QCOMPARE(messages.size(), 1U);
}

void TestAuthenticator::theStoreNeverSeesASecret()
{
    const auto created = create();
    const auto stored = m_store->find(created.token.id).value().value();
    QVERIFY(stored.secretHash == Digest::ofBytes(created.secret));
    for (const std::string& text : {stored.id, stored.name, stored.principal, stored.fingerprint})
        QVERIFY(!text.contains(created.secret));
}

void TestAuthenticator::revokingWorksAtOnce()
{
    const auto created = create();
    ASSAY_OK(ask(created.secret));
    ASSAY_OK(m_service->revoke(created.token.id));
    ASSAY_FAILS(ask(created.secret), ErrorCode::Unauthenticated);
    ASSAY_OK(m_service->revoke(created.token.id));
    ASSAY_FAILS(m_service->revoke(newId("tok_", m_clock.now())), ErrorCode::NotFound);
    ASSAY_FAILS(m_service->revoke("tok_nonsense"), ErrorCode::NotFound);
    QVERIFY(m_service->find(created.token.id).value().revokedAt.has_value());
}

void TestAuthenticator::aLookUpThatRacesARevocationIsNotKept()
{
    const auto created = create();
    m_store->duringLookUp = [&] { QVERIFY(m_service->revoke(created.token.id)); };
    (void)ask(created.secret); // read before the revocation: this one answer may still be yes
    ASSAY_FAILS(ask(created.secret), ErrorCode::Unauthenticated);
}

void TestAuthenticator::anExpiredTokenIsRefusedFromTheCacheToo()
{
    const auto created = m_service->create(
        {.scope = {{"a", "b"}}, .roles = {"viewer"}, .expiresAt = m_clock.now() + std::chrono::seconds(1)});
    ASSAY_OK(created);
    ASSAY_OK(ask(created->secret));
    m_clock.advance(std::chrono::seconds(1));
    ASSAY_FAILS(ask(created->secret), ErrorCode::Unauthenticated);
}

void TestAuthenticator::knownTokensAreNotLookedUpAgain()
{
    const auto created = create();
    for (int i = 0; i < 5; ++i)
        ASSAY_OK(ask(created.secret));
    QCOMPARE(m_store->lookUps, 1);
}

void TestAuthenticator::theCacheIsBounded()
{
    std::vector<std::string> secrets;
    for (std::size_t i = 0; i < Authenticator::kCacheEntries + 10; ++i)
        secrets.push_back(create().secret);
    for (const std::string& secret : secrets)
        ASSAY_OK(ask(secret));
    m_store->lookUps = 0;
    for (const std::string& secret : secrets)
        ASSAY_OK(ask(secret));
    QVERIFY(m_store->lookUps >= 1);
    QVERIFY(m_store->lookUps < 200);
}

void TestAuthenticator::refusesTokensOutOfBounds()
{
    ASSAY_FAILS(m_service->create({.scope = {}, .roles = {"viewer"}}), ErrorCode::InvalidArgument);
    ASSAY_FAILS(m_service->create({.scope = {{"a", "b"}}, .roles = {}}), ErrorCode::InvalidArgument);
    ASSAY_FAILS(m_service->create({.scope = {{"a", "b"}}, .roles = {"root"}}), ErrorCode::InvalidArgument);
    ASSAY_FAILS(m_service->create({.scope = {{"a", "b"}}, .roles = {"viewer"}, .expiresAt = m_clock.now()}),
                ErrorCode::InvalidArgument);
    ASSAY_FAILS(m_service->create({.scope = {{"a", "b"}}, .roles = {"viewer"}, .principal = std::string(257, 'p')}),
                ErrorCode::InvalidArgument);
    ASSAY_FAILS(m_service->create({.scope = {{"a", "b"}}, .roles = {"viewer"}, .principal = "line\nbreak"}),
                ErrorCode::InvalidArgument);
}

void TestAuthenticator::listsInPages()
{
    std::vector<std::string> ids;
    for (int i = 0; i < 5; ++i)
        ids.push_back(create().token.id);
    std::vector<std::string> listed;
    contract::PageRequest request{.size = 2};
    for (int pages = 0; pages < 3; ++pages) {
        const auto page = m_service->list(request).value();
        for (const auto& token : page.items)
            listed.push_back(token.id);
        QCOMPARE(page.nextPageToken.has_value(), pages < 2);
        request.token = page.nextPageToken.value_or("");
    }
    QCOMPARE(listed, ids);
    ASSAY_FAILS(m_service->list({.size = 2, .token = "elsewhere"}), ErrorCode::InvalidArgument);
}

void TestAuthenticator::ingressGivesAnIdentity()
{
    const std::string scope = toBase64Url(R"({"org":"acme"})");
    const auto identity = Authenticator::fromIngress({scope, "ann@acme", "viewer, runner"});
    ASSAY_OK(identity);
    QCOMPARE(identity->scopeFingerprint, scopeFingerprint({{"org", "acme"}}).value());
    QCOMPARE(identity->principal, "ann@acme");
    QVERIFY(identity->tokenId.empty());
    QCOMPARE(identity->roles, Roles(Role::Viewer) | Role::Runner);
}

void TestAuthenticator::refusesIngressFieldsOutOfBounds()
{
    const std::string scope = toBase64Url(R"({"org":"acme"})");
    const std::string empty = toBase64Url("{}");
    const std::vector<IngressFields> bad{
        {std::nullopt, "ann", "viewer"}, {scope, std::nullopt, "viewer"}, {scope, "ann", std::nullopt},
        {empty, "ann", "viewer"},        {"%%", "ann", "viewer"},         {scope, "", "viewer"},
        {scope, "a\nb", "viewer"},       {scope, "\xff", "viewer"},       {scope, "ann", "root"}};
    for (const IngressFields& fields : bad)
        ASSAY_FAILS(Authenticator::fromIngress(fields), ErrorCode::InvalidArgument);
}

QTEST_APPLESS_MAIN(TestAuthenticator)
#include "tst_authenticator.moc"
