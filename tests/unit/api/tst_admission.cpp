// SPDX-License-Identifier: Apache-2.0
#include "server/api/admission.h"
#include "server/core/base64.h"
#include "tests/support/test_support.h"
#include "tests/unit/auth/memory_token_store.h"

#include <set>

using namespace assay;
using namespace assay::api;

class TestAdmission : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase();
    void openRoutesNeedNoToken();
    void everythingElseIs401FirstEvenUnknownRoutes();
    void thenTheRouteIsJudged();
    void thenTheRoleAlikeForEveryPath();
    void thenTheQuery();
    void thenTheContentType();
    void thenTheIdempotencyKey();
    void ingressFieldsAreRefusedOnOtherListeners();
    void aTrustedIngressNamesTheCaller();
    void aTrustedIngressFallsBackToTokens();
    void pathsMustBeText();
    void problemsDoNotNameTheObject();

private:
    std::expected<Admission, Refusal> ask(RequestHead head, const std::string& secret)
    {
        if (!secret.empty())
            head.headers["authorization"] = "Bearer " + secret;
        return judge(m_router, m_authenticator, head);
    }
    std::string tokenWith(const std::string& role)
    {
        return m_service.create({.scope = {{"org", "a"}}, .roles = {role}}).value().secret;
    }

    test::FakeClock m_clock;
    test::MemoryTokenStore m_store;
    auth::Authenticator m_authenticator{m_store, m_clock};
    auth::TokenService m_service{m_store, m_authenticator, m_clock};
    static Router makeRouter();
    Router m_router = makeRouter();
    std::string m_viewer;
    std::string m_builder;
};

namespace {

Result<Reply> nothing(const Services&, Request&) { return Reply{}; }

constexpr std::array<std::string_view, 1> kQuery{"q"};
constexpr Route kRoutes[] = {
    {Method::Get, "/open", {}, nothing},
    {Method::Get, "/v1/things", auth::kReaders, nothing, BodyKind::None, Replay::No, kQuery},
    {Method::Get, "/v1/things/{name}", auth::kReaders, nothing},
    {Method::Post, "/v1/things", auth::Role::Builder, nothing, BodyKind::Json, Replay::Kept},
    {Method::Put, "/v1/things/{name}", auth::Role::Builder, nothing, BodyKind::Package},
    {Method::Patch, "/v1/things/{name}", auth::Role::Builder, nothing, BodyKind::Json},
};

RequestHead headOf(Method method, std::vector<std::string> segments)
{
    RequestHead head;
    head.method = method;
    head.segments = std::move(segments);
    return head;
}

} // namespace

#define REFUSED(admission, status)                                                                                     \
    QVERIFY(!(admission).has_value());                                                                                 \
    QCOMPARE(traits((admission).error().error.code).httpStatus, status)

Router TestAdmission::makeRouter() { return Router(kRoutes); }

void TestAdmission::initTestCase()
{
    m_viewer = tokenWith("viewer");
    m_builder = tokenWith("builder");
}

void TestAdmission::openRoutesNeedNoToken()
{
    QVERIFY(ask(headOf(Method::Get, {"open"}), "").has_value());
    QVERIFY(ask(headOf(Method::Get, {"open"}), "nonsense").has_value());
}

void TestAdmission::everythingElseIs401FirstEvenUnknownRoutes()
{
    for (const auto& head : {headOf(Method::Get, {"v1", "things"}), headOf(Method::Get, {"v1", "nothing"}),
                             headOf(Method::Delete, {"v1", "things"}), headOf(Method::Post, {"open"}),
                             headOf(Method::Get, {}), headOf(Method::Get, {"v1", "things", "\xff"})}) {
        REFUSED(ask(head, ""), 401);
        REFUSED(ask(head, "assay_wrong"), 401);
    }
}

void TestAdmission::thenTheRouteIsJudged()
{
    REFUSED(ask(headOf(Method::Get, {"v1", "nothing"}), m_viewer), 404);
    const auto wrong = ask(headOf(Method::Delete, {"v1", "things"}), m_viewer);
    REFUSED(wrong, 405);
    QCOMPARE(wrong.error().allow, "GET, HEAD, POST");
}

void TestAdmission::thenTheRoleAlikeForEveryPath()
{
    std::set<std::string> answers;
    for (const char* name : {"mine", "other", "missing", "\xff"}) {
        const auto refused = ask(headOf(Method::Put, {"v1", "things", name}), m_viewer);
        REFUSED(refused, 403);
        answers.insert(refused.error().error.message + std::string(refused.error().route));
    }
    QCOMPARE(answers.size(), 1U);
    QVERIFY(ask(headOf(Method::Put, {"v1", "things", "mine"}), m_builder).has_value());
    QVERIFY(ask(headOf(Method::Get, {"v1", "things", "mine"}), m_builder).has_value());
    REFUSED(ask(headOf(Method::Get, {"v1", "things"}), tokenWith("operator")), 403);
}

void TestAdmission::thenTheQuery()
{
    RequestHead head = headOf(Method::Get, {"v1", "things"});
    head.query = {{"q", "a"}};
    QCOMPARE(ask(head, m_viewer).value().query.at("q"), "a");
    for (const auto& query :
         std::vector<std::vector<std::pair<std::string, std::string>>>{{{"r", "a"}},
                                                                       {{"q", "a"}, {"q", "a"}},
                                                                       {{"Q", "a"}},
                                                                       {{"q", "\xff"}},
                                                                       {{"q", std::string("a\0b", 3)}},
                                                                       {{"", ""}}}) {
        head.query = query;
        REFUSED(ask(head, m_viewer), 400);
    }
}

void TestAdmission::thenTheContentType()
{
    RequestHead put = headOf(Method::Put, {"v1", "things", "a"});
    put.hasBody = true;
    const std::map<std::string, Content> good{
        {"application/json", Content::Json},      {"application/json; charset=utf-8", Content::Json},
        {"application/json ;x=y", Content::Json}, {"Application/JSON", Content::Json},
        {"application/zip", Content::Archive},    {"application/x-tar", Content::Archive},
        {"application/gzip", Content::Archive}};
    for (const auto& [type, content] : good) {
        put.headers["content-type"] = type;
        QCOMPARE(ask(put, m_builder).value().content, content);
    }
    for (const char* bad : {"text/plain", "application/x-www-form-urlencoded", "multipart/form-data",
                            "application/merge-patch+json", "json"}) {
        put.headers["content-type"] = bad;
        REFUSED(ask(put, m_builder), 415);
    }
    RequestHead post = headOf(Method::Post, {"v1", "things"});
    post.headers["content-type"] = "application/zip";
    REFUSED(ask(post, m_builder), 415);
    RequestHead patch = headOf(Method::Patch, {"v1", "things", "a"});
    patch.headers["content-type"] = "application/merge-patch+json";
    QVERIFY(ask(patch, m_builder).has_value());
}

void TestAdmission::thenTheIdempotencyKey()
{
    RequestHead post = headOf(Method::Post, {"v1", "things"});
    post.headers["idempotency-key"] = std::string(128, 'k');
    QCOMPARE(ask(post, m_builder).value().key, std::optional(std::string(128, 'k')));
    for (const std::string& bad :
         {std::string(), std::string(129, 'k'), std::string("a\tb"), std::string("\xc3\xa9")}) {
        post.headers["idempotency-key"] = bad;
        REFUSED(ask(post, m_builder), 400);
    }
}

void TestAdmission::ingressFieldsAreRefusedOnOtherListeners()
{
    for (const char* name : {"assay-scope", "assay-principal", "assay-roles"}) {
        RequestHead head = headOf(Method::Get, {"open"});
        head.headers[name] = "";
        REFUSED(ask(head, ""), 400);
        head.segments = {"v1", "things"};
        REFUSED(ask(head, m_viewer), 400);
    }
}

void TestAdmission::aTrustedIngressNamesTheCaller()
{
    RequestHead head = headOf(Method::Get, {"v1", "things"});
    head.trust = Trust::TrustedIngress;
    head.headers = {
        {"assay-scope", toBase64Url(R"({"org":"a"})")}, {"assay-principal", "ann"}, {"assay-roles", "viewer"}};
    const auto admitted = ask(head, "");
    QVERIFY(admitted.has_value());
    QCOMPARE(admitted->identity.principal, "ann");
    QCOMPARE(admitted->identity.scopeFingerprint,
             ask(headOf(Method::Get, {"v1", "things"}), m_viewer).value().identity.scopeFingerprint);
    head.headers.erase("assay-roles");
    REFUSED(ask(head, m_viewer), 400);
}

void TestAdmission::aTrustedIngressFallsBackToTokens()
{
    RequestHead head = headOf(Method::Get, {"v1", "things"});
    head.trust = Trust::TrustedIngress;
    REFUSED(ask(head, ""), 401);
    QVERIFY(ask(head, m_viewer).has_value());
}

void TestAdmission::pathsMustBeText()
{
    REFUSED(ask(headOf(Method::Get, {"v1", "things", "\xff"}), m_viewer), 400);
    REFUSED(ask(headOf(Method::Get, {"v1", "things", std::string("a\0", 2)}), m_viewer), 400);
    QVERIFY(ask(headOf(Method::Get, {"v1", "things", "\u2603"}), m_viewer).has_value());
}

void TestAdmission::problemsDoNotNameTheObject()
{
    QCOMPARE(fixedPart("/v1/things/{name}/files/{path...}"), "/v1/things");
    QCOMPARE(fixedPart("/v1/things"), "/v1/things");
    QCOMPARE(fixedPart("/{name}"), "/");
}

QTEST_APPLESS_MAIN(TestAdmission)
#include "tst_admission.moc"
