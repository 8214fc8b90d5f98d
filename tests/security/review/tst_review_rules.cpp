// SPDX-License-Identifier: Apache-2.0
// Attempts to get around a review through the API: each gets its stable code and changes nothing.
#include "tests/unit/api/api_fixture.h"

#include <atomic>
#include <set>
#include <thread>

using namespace assay;
using api::Method;
using test::Answer;

class TestReviewRules : public QObject
{
    Q_OBJECT

private slots:
    void init();
    void cleanup() { m_api.reset(); }
    void nobodyApprovesOrPromotesTheirOwn();
    void aSecondTokenIsNoSecondPerson();
    void aBuilderGivesNoVerdict();
    void everyRouteToTheCurrentPointerIsGuarded();
    void aStaleTagOrDigestIsRefused();
    void aStaleTagIsNotKeptUnderAKey();
    void anApprovalDoesNotOutliveItsProposal();
    void commentsOnWhatIsNotThereAreRefused_data();
    void commentsOnWhatIsNotThereAreRefused();
    void faultyBodiesAreRefusedWithAPointer_data();
    void faultyBodiesAreRefusedWithAPointer();
    void settingsAreTheOperatorsAlone();
    void aRunCannotNameWhatItMayNot();
    void promotersRaceThroughTheApi();
    void aRepeatedReviewIsOneReview();

private:
    Answer ask(const std::string& token, Method method, const std::string& target, const std::string& body = {},
               const std::string& match = {})
    {
        test::Sent sent{token, body};
        if (!match.empty())
            sent.headers["if-match"] = match;
        return m_api->send(method, target, sent);
    }
    std::string tokenOf(const std::string& principal, const std::vector<std::string>& roles)
    {
        const auto made = m_api->tokens().create({.scope = {{"tenant", "a"}}, .roles = roles, .principal = principal});
        return made ? made->secret : std::string();
    }
    /// From several threads: the fixture keeps a record of answers, so one at a time may write it.
    int postQuietly(const std::string& token, const std::string& target, const std::string& match)
    {
        return m_api->handle(Method::Post, target, {token, {}, {{"if-match", match}}}).status;
    }
    /// Publishes as pat; the proposal's path.
    std::string publish(const std::string& mark)
    {
        const Answer answer = ask(m_pat, Method::Put, "/v1/skills/demo", test::skillBody("demo", mark));
        m_revision = std::string(answer.json().at("revision").as_string());
        m_digest = std::string(answer.json().at("digest").as_string());
        return "/v1/proposals/" + std::string(answer.json().at("proposal").as_string());
    }
    std::string current()
    {
        const auto skill = ask(m_ann, Method::Get, "/v1/skills/demo").json();
        return skill.at("current_revision").is_null() ? "" : std::string(skill.at("current_revision").as_string());
    }
    static std::string reasonOf(const Answer& answer)
    {
        const json::value body = answer.json();
        const json::value* reason = body.is_object() ? body.as_object().if_contains("reason") : nullptr;
        return std::to_string(answer.status) + " " + (reason ? std::string(reason->as_string()) : "");
    }

    std::unique_ptr<test::ApiFixture> m_api;
    std::string m_pat;
    std::string m_ann;
    std::string m_operator;
    std::string m_settings;
    std::string m_revision;
    std::string m_digest;
};

namespace {
const std::string kApprove = R"({"verdict": "approve"})";
}

void TestReviewRules::init()
{
    m_api = std::make_unique<test::ApiFixture>();
    m_pat = tokenOf("pat", {"builder", "reviewer", "runner"});
    m_ann = tokenOf("ann", {"reviewer"});
    m_operator = m_api->token("elsewhere", {"operator"});
    m_settings = "/v1/scopes/" + std::string(ask(m_ann, Method::Get, "/v1/scope").json().at("fingerprint").as_string());
    QCOMPARE(ask(m_operator, Method::Patch, m_settings,
                 R"({"promotion_mode": "reviewed", "required_checks": ["package_valid"]})")
                 .status,
             200);
}

void TestReviewRules::nobodyApprovesOrPromotesTheirOwn()
{
    const std::string proposal = publish("one");
    QCOMPARE(reasonOf(ask(m_pat, Method::Post, proposal + "/reviews", kApprove)), "403 self_approval");
    QCOMPARE(reasonOf(ask(m_pat, Method::Post, proposal + "/acknowledge", test::member("digest", m_digest))),
             "403 self_approval");
    QCOMPARE(ask(m_ann, Method::Post, proposal + "/reviews", kApprove).status, 201);
    QCOMPARE(reasonOf(ask(m_pat, Method::Post, proposal + "/promote")), "403 self_promotion");
    QCOMPARE(current(), "");
    QCOMPARE(ask(m_ann, Method::Post, proposal + "/promote").status, 200);
    QCOMPARE(current(), m_revision);
}

void TestReviewRules::aSecondTokenIsNoSecondPerson()
{
    const std::string proposal = publish("one");
    const std::string second = tokenOf("pat", {"reviewer"});
    QCOMPARE(reasonOf(ask(second, Method::Post, proposal + "/reviews", kApprove)), "403 self_approval");
    QCOMPARE(reasonOf(ask(second, Method::Post, proposal + "/promote")), "403 self_promotion");
    // Nor is the same name by way of a trusted ingress.
    const test::Sent ingress{.token = {},
                             .body = kApprove,
                             .headers = {{"assay-scope", "eyJ0ZW5hbnQiOiJhIn0"}, // {"tenant":"a"}
                                         {"assay-principal", "pat"},
                                         {"assay-roles", "reviewer"}},
                             .trust = api::Trust::TrustedIngress};
    QCOMPARE(reasonOf(m_api->send(Method::Post, proposal + "/reviews", ingress)), "403 self_approval");
}

void TestReviewRules::aBuilderGivesNoVerdict()
{
    const std::string proposal = publish("one");
    const std::string builder = tokenOf("bea", {"builder"});
    QCOMPARE(ask(builder, Method::Post, proposal + "/reviews", kApprove).status, 403);
    QCOMPARE(ask(builder, Method::Post, proposal + "/promote").status, 403);
    QCOMPARE(ask(builder, Method::Post, proposal + "/withdraw", R"({"reason": "x"})").status, 403);
    QCOMPARE(ask(builder, Method::Post, proposal + "/reviews", R"({"verdict": "comment", "comments": [{"text": "x"}]})")
                 .status,
             201);
    QCOMPARE(ask(m_ann, Method::Get, proposal).json().at("approvals").as_array().size(), 0U);
}

void TestReviewRules::everyRouteToTheCurrentPointerIsGuarded()
{
    const std::string proposal = publish("one");
    const std::string direct = "/v1/skills/demo/revisions/" + m_revision + "/promote";
    for (const std::string& route : {proposal + "/promote", direct}) {
        QCOMPARE(reasonOf(ask(m_ann, Method::Post, route)), "409 approvals_missing");
        QCOMPARE(reasonOf(ask(m_pat, Method::Post, route)), "403 self_promotion");
    }
    QCOMPARE(ask(m_operator, Method::Patch, m_settings, R"({"required_checks": ["capabilities_reviewed"]})").status,
             200);
    QCOMPARE(ask(m_ann, Method::Post, proposal + "/reviews", kApprove).status, 201);
    for (const std::string& route : {proposal + "/promote", direct})
        QCOMPARE(reasonOf(ask(m_ann, Method::Post, route)), "409 checks_not_passed");
    // Publishing, patching, deleting and publishing again do not get around it.
    QCOMPARE(ask(m_pat, Method::Patch, "/v1/skills/demo", R"({"enabled": true})").status, 200);
    QCOMPARE(ask(m_pat, Method::Delete, "/v1/skills/demo").status, 204);
    publish("one");
    QCOMPARE(current(), "");
}

void TestReviewRules::aStaleTagIsNotKeptUnderAKey()
{
    const std::string proposal = publish("one");
    const auto approve = [&](const std::string& tag) {
        return m_api->send(Method::Post, proposal + "/reviews",
                           {m_ann, kApprove, {{"idempotency-key", "k"}, {"if-match", tag}}});
    };
    QCOMPARE(approve("\"stale\"").status, 412);
    const Answer done = approve(ask(m_ann, Method::Get, proposal).header("ETag"));
    QCOMPARE(done.status, 201);
    // What was done is kept, whatever the repetition's tag says.
    QCOMPARE(approve("\"stale\"").bytes(), done.bytes());
}

void TestReviewRules::aStaleTagOrDigestIsRefused()
{
    const std::string proposal = publish("one");
    const std::string seen = ask(m_ann, Method::Get, proposal).header("ETag");
    QCOMPARE(ask(m_pat, Method::Post, proposal + "/comments", R"({"text": "one more thing"})").status, 201);
    const std::string other = Digest::ofBytes("other").text();
    QCOMPARE(ask(m_ann, Method::Post, proposal + "/reviews", kApprove, seen).status, 412);
    QCOMPARE(ask(m_ann, Method::Post, proposal + "/reviews",
                 json::serialize(json::object{{"verdict", "approve"}, {"digest", other}}))
                 .status,
             412);
    QCOMPARE(ask(m_ann, Method::Post, proposal + "/acknowledge", test::member("digest", other)).status, 412);
    const std::string fresh = ask(m_ann, Method::Get, proposal).header("ETag");
    QVERIFY(fresh != seen);
    QCOMPARE(ask(m_ann, Method::Post, proposal + "/reviews", kApprove, fresh).status, 201);
    QCOMPARE(ask(m_ann, Method::Post, proposal + "/promote", {}, fresh).status, 412);
    QCOMPARE(current(), "");
}

void TestReviewRules::anApprovalDoesNotOutliveItsProposal()
{
    const std::string first = publish("one");
    QCOMPARE(ask(m_ann, Method::Post, first + "/reviews", kApprove).status, 201);
    const std::string approved = m_revision;
    const std::string second = publish("two");
    QCOMPARE(reasonOf(ask(m_ann, Method::Post, first + "/promote")), "409 proposal_closed");
    QCOMPARE(reasonOf(ask(m_ann, Method::Post, first + "/reviews", kApprove)), "409 proposal_closed");
    QCOMPARE(reasonOf(ask(m_ann, Method::Post, "/v1/skills/demo/revisions/" + approved + "/promote")),
             "409 proposal_closed");
    QCOMPARE(reasonOf(ask(m_ann, Method::Post, second + "/promote")), "409 approvals_missing");
    QCOMPARE(current(), "");
}

void TestReviewRules::commentsOnWhatIsNotThereAreRefused_data()
{
    QTest::addColumn<QByteArray>("comment");
    QTest::addColumn<QByteArray>("pointer");
    QTest::addRow("line") << QByteArray(R"({"text": "x", "path": "scripts/sort.py", "line": 2})")
                          << QByteArray("/line");
    QTest::addRow("old line") << QByteArray(R"({"text": "x", "path": "scripts/sort.py", "side": "old", "line": 1})")
                              << QByteArray("/path");
    QTest::addRow("file") << QByteArray(R"({"text": "x", "path": "nothing"})") << QByteArray("/path");
    QTest::addRow("traversal") << QByteArray(R"({"text": "x", "path": "../../etc/passwd", "line": 1})")
                               << QByteArray("/path");
    QTest::addRow("asset") << QByteArray(R"({"text": "x", "path": "logo.png", "line": 1})") << QByteArray("/line");
    QTest::addRow("zero") << QByteArray(R"({"text": "x", "path": "SKILL.md", "line": 0})") << QByteArray("/line");
    QTest::addRow("fraction") << QByteArray(R"({"text": "x", "path": "SKILL.md", "line": 1.5})") << QByteArray("/line");
    QTest::addRow("negative") << QByteArray(R"({"text": "x", "path": "SKILL.md", "line": -1})") << QByteArray("/line");
    QTest::addRow("line alone") << QByteArray(R"({"text": "x", "line": 1})") << QByteArray("/path");
    QTest::addRow("side alone") << QByteArray(R"({"text": "x", "side": "old"})") << QByteArray("/path");
    QTest::addRow("no thread") << QByteArray(R"({"text": "x", "in_reply_to": "cmt_nothing"})")
                               << QByteArray("/in_reply_to");
    QTest::addRow("placed reply") << QByteArray(R"({"text": "x", "in_reply_to": "cmt_x", "path": "SKILL.md"})")
                                  << QByteArray("/in_reply_to");
    QTest::addRow("empty") << QByteArray(R"({"text": ""})") << QByteArray("/text");
}

void TestReviewRules::commentsOnWhatIsNotThereAreRefused()
{
    QFETCH(QByteArray, comment);
    QFETCH(QByteArray, pointer);
    const std::string proposal = publish("one");
    const std::string before = ask(m_ann, Method::Get, proposal).header("ETag");
    const Answer single = ask(m_ann, Method::Post, proposal + "/comments", comment.toStdString());
    QCOMPARE(single.status, 400);
    QCOMPARE(single.json().at("errors").at(0).at("pointer").as_string(), json::string(pointer.toStdString()));
    const Answer batch = ask(m_ann, Method::Post, proposal + "/reviews",
                             R"({"verdict": "approve", "comments": [)" + comment.toStdString() + "]}");
    QCOMPARE(batch.status, 400);
    QCOMPARE(ask(m_ann, Method::Get, proposal).header("ETag"), before);
}

void TestReviewRules::faultyBodiesAreRefusedWithAPointer_data()
{
    QTest::addColumn<QByteArray>("route");
    QTest::addColumn<QByteArray>("body");
    QTest::addColumn<QByteArray>("pointer");
    const auto add = [](const char* route, const char* body, const char* pointer) {
        QTest::addRow("%s %s", route, body) << QByteArray(route) << QByteArray(body) << QByteArray(pointer);
    };
    add("/reviews", R"({"verdict": "lgtm"})", "/verdict");
    add("/reviews", R"({})", "/verdict");
    add("/reviews", R"({"verdict": "approve", "by": "ann"})", "/by");
    add("/reviews", R"({"verdict": "approve", "comments": [{"text": "x", "draft": true}]})", "/comments/0/draft");
    add("/promote", R"({"force": true})", "/force");
    add("/promote", R"({"reason": null})", "/reason");
    add("/withdraw", R"({})", "/reason");
    add("/acknowledge", R"({})", "/digest");
    add("/resolve", R"({"comment": 1})", "/comment");
    add("/resolve", R"({"comment": "x", "resolved": "yes"})", "/resolved");
}

void TestReviewRules::faultyBodiesAreRefusedWithAPointer()
{
    QFETCH(QByteArray, route);
    QFETCH(QByteArray, body);
    QFETCH(QByteArray, pointer);
    const std::string proposal = publish("one");
    const Answer answer = ask(m_ann, Method::Post, proposal + route.toStdString(), body.toStdString());
    QCOMPARE(answer.status, 400);
    QCOMPARE(answer.json().at("errors").at(0).at("pointer").as_string(), json::string(pointer.toStdString()));
    QCOMPARE(ask(m_ann, Method::Get, proposal).json().at("state").as_string(), "open");
}

void TestReviewRules::settingsAreTheOperatorsAlone()
{
    for (const std::string& token : {m_pat, m_ann})
        QCOMPARE(ask(token, Method::Patch, m_settings, R"({"promotion_mode": "automatic"})").status, 403);
    const auto refused = [&](const char* body) { return ask(m_operator, Method::Patch, m_settings, body).status; };
    QCOMPARE(refused(R"({"required_approvals": 0})"), 400);
    QCOMPARE(refused(R"({"required_approvals": 11})"), 400);
    QCOMPARE(refused(R"({"promotion_mode": "none"})"), 400);
    QCOMPARE(refused(R"({"required_checks": ["no_such_check"]})"), 400);
    QCOMPARE(refused(R"({"fingerprint": "sc_x"})"), 400);
    QCOMPARE(ask(m_ann, Method::Get, "/v1/scope").json().at("promotion_mode").as_string(), "reviewed");
    // The operator's own role sees no content.
    QCOMPARE(ask(m_operator, Method::Get, "/v1/proposals").status, 403);
}

void TestReviewRules::aRunCannotNameWhatItMayNot()
{
    publish("one");
    const auto run = [&](const std::string& body) { return ask(m_pat, Method::Post, "/v1/runs", body); };
    const std::string rest = R"(, "command": {"argv": ["/bin/true"]}})";
    const auto pinning = [&](const char* what, const char* skill) {
        return std::string(what) + ", \"revisions\": " + test::member(skill, m_revision) + rest;
    };
    const Answer other = run(pinning(R"({"skills": ["demo"])", "other"));
    QCOMPARE(other.status, 400);
    QCOMPARE(other.json().at("errors").at(0).at("pointer").as_string(), "/revisions");
    const std::string byAgent = pinning(R"({"agent": "a")", "demo");
    QCOMPARE(run(byAgent).status, 400);
    QCOMPARE(run(R"({"skills": ["demo"], "revisions": {"demo": "rev_01J00000000000000000000000"})" + rest).status, 404);
    QCOMPARE(ask(m_ann, Method::Post, "/v1/runs", R"({"skills": ["demo"])" + rest).status, 403); // no runner
}

void TestReviewRules::promotersRaceThroughTheApi()
{
    const std::string bob = tokenOf("bob", {"reviewer"});
    for (int round = 0; round < 10; ++round) {
        const std::string proposal = publish("round " + std::to_string(round));
        QCOMPARE(ask(m_ann, Method::Post, proposal + "/reviews", kApprove).status, 201);
        const std::string tag = ask(m_ann, Method::Get, proposal).header("ETag");
        std::array<int, 2> statuses{};
        {
            std::jthread first([&] { statuses[0] = postQuietly(m_ann, proposal + "/promote", tag); });
            std::jthread second([&] { statuses[1] = postQuietly(bob, proposal + "/promote", tag); });
        }
        QCOMPARE(std::min(statuses[0], statuses[1]), 200);
        QVERIFY(std::max(statuses[0], statuses[1]) == 412 || std::max(statuses[0], statuses[1]) == 409);
    }
}

void TestReviewRules::aRepeatedReviewIsOneReview()
{
    const std::string proposal = publish("one");
    const auto send = [&] {
        return m_api->send(Method::Post, proposal + "/reviews", {m_ann, kApprove, {{"idempotency-key", "k"}}});
    };
    const Answer first = send();
    QCOMPARE(first.status, 201);
    QCOMPARE(send().body, first.body);
    QCOMPARE(ask(m_ann, Method::Get, proposal + "/reviews").json().at("items").as_array().size(), 1U);
}

QTEST_GUILESS_MAIN(TestReviewRules)
#include "tst_review_rules.moc"
