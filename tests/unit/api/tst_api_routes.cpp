// SPDX-License-Identifier: Apache-2.0
// What callers may rely on, through the whole service: conditions, idempotency, uploads, downloads, refusals.
#include "server/core/digest.h"
#include "server/registry/archive.h"
#include "tests/unit/api/api_fixture.h"

#include <set>

using namespace assay;
using api::Method;
using test::Answer;

class TestApiRoutes : public QObject
{
    Q_OBJECT

private slots:
    void init();
    void cleanup();
    void aPublishCreatesThenRevises();
    void conditionsGuardChanges();
    void readsAnswer304();
    void aComparisonIsAskedForExactly();
    void archivesAndJsonGiveTheSameRevision();
    void aBrokenArchiveIsAnInvalidPackage();
    void downloadsAreExactAndPinned();
    void invalidPackagesNameEveryFinding();
    void unknownMembersAndNullsAreRefused();
    void jsonThatIsNotJsonIsRefused();
    void bodiesOverTheLimitAreTooLarge();
    void aRepeatedPostCreatesOnce();
    void aRepeatedTokenRequestGivesTheSameSecretToItsCallerOnly();
    void aRevokedTokenIsRefusedAtOnce();
    void aRefusedRunIsListedWithItsReason();
    void aRunGivesItsParts();
    void eventsResumeAfterTheLastOne();
    void methodsThatAreNotThereNameThoseThatAre();

private:
    Answer ask(Method method, const std::string& target, const std::string& body = {},
               std::map<std::string, std::string, std::less<>> headers = {})
    {
        return m_api->send(method, target, {m_token, body, std::move(headers)});
    }
    std::unique_ptr<test::ApiFixture> m_api;
    std::string m_token;
};

namespace {

std::string code(const Answer& answer)
{
    return std::to_string(answer.status) + " " + std::string(answer.json().at("code").as_string());
}

} // namespace

void TestApiRoutes::init()
{
    m_api = std::make_unique<test::ApiFixture>();
    m_token = m_api->token("a", {"viewer", "builder", "reviewer", "runner", "operator"});
}

void TestApiRoutes::cleanup() { m_api.reset(); }

void TestApiRoutes::aPublishCreatesThenRevises()
{
    const Answer created = ask(Method::Put, "/v1/skills/demo", test::skillBody("demo"));
    QCOMPARE(created.status, 201);
    QCOMPARE(created.header("Location"), "/v1/skills/demo");
    QCOMPARE(created.json().at("revision_created").as_bool(), true);
    QCOMPARE(created.json().at("number").to_number<int>(), 1);
    QCOMPARE(created.json().at("file_count").to_number<int>(), 3);
    const Answer same = ask(Method::Put, "/v1/skills/demo", test::skillBody("demo"));
    QCOMPARE(same.status, 200);
    QCOMPARE(same.json().at("revision_created").as_bool(), false);
    const Answer next = ask(Method::Put, "/v1/skills/demo", test::skillBody("demo", "two"));
    QCOMPARE(next.status, 200);
    QCOMPARE(next.json().at("number").to_number<int>(), 2);
    QVERIFY(next.header("ETag") != created.header("ETag"));
    QCOMPARE(code(ask(Method::Post, "/v1/skills",
                      R"({"name": "demo", "content": "---\nname: demo\ndescription: D.\n---\n"})")),
             "409 conflict");
}

void TestApiRoutes::conditionsGuardChanges()
{
    const Answer first = ask(Method::Put, "/v1/skills/demo", test::skillBody("demo"), {{"if-none-match", "*"}});
    QCOMPARE(first.status, 201);
    QCOMPARE(code(ask(Method::Put, "/v1/skills/demo", test::skillBody("demo", "b"), {{"if-none-match", "*"}})),
             "412 precondition_failed");
    const Answer second =
        ask(Method::Put, "/v1/skills/demo", test::skillBody("demo", "b"), {{"if-match", first.header("ETag")}});
    QCOMPARE(second.status, 200);
    QCOMPARE(code(ask(Method::Patch, "/v1/skills/demo", R"({"enabled": false})", {{"if-match", first.header("ETag")}})),
             "412 precondition_failed");
    QCOMPARE(code(ask(Method::Delete, "/v1/skills/demo", {}, {{"if-match", "\"stale\""}})), "412 precondition_failed");
    QCOMPARE(code(ask(Method::Delete, "/v1/skills/demo", {}, {{"if-match", "stale"}})), "400 invalid_argument");
    const std::string revision(first.json().at("revision").as_string());
    const std::string promote = "/v1/skills/demo/revisions/" + revision + "/promote";
    QCOMPARE(code(ask(Method::Post, promote, {}, {{"if-match", first.header("ETag")}})), "412 precondition_failed");
    const Answer promoted = ask(Method::Post, promote, {}, {{"if-match", second.header("ETag")}});
    QCOMPARE(promoted.status, 200);
    QCOMPARE(std::string(promoted.json().at("current_revision").as_string()), revision);
    QCOMPARE(ask(Method::Delete, "/v1/skills/demo", {}, {{"if-match", promoted.header("ETag")}}).status, 204);
    QCOMPARE(code(ask(Method::Get, "/v1/skills/demo")), "404 not_found");
}

void TestApiRoutes::readsAnswer304()
{
    const Answer created = ask(Method::Put, "/v1/skills/demo", test::skillBody("demo"));
    const std::string at = "/v1/skills/demo/revisions/" + std::string(created.json().at("revision").as_string());
    for (const std::string& target :
         {std::string("/v1/skills/demo"), at, at + "/files", at + "/files/SKILL.md", at + "/archive",
          at + "/capabilities", std::string("/v1/skills/demo/diff?from=none"),
          std::string("/v1/skills/demo/diff?from=current&context=0")}) {
        const Answer full = ask(Method::Get, target);
        QCOMPARE(full.status, 200);
        const Answer unchanged = ask(Method::Get, target, {}, {{"if-none-match", full.header("ETag")}});
        QVERIFY2(unchanged.status == 304 && unchanged.body.empty(), target.c_str());
        QCOMPARE(unchanged.header("ETag"), full.header("ETag"));
    }
}

void TestApiRoutes::aComparisonIsAskedForExactly()
{
    QCOMPARE(ask(Method::Put, "/v1/skills/demo", test::skillBody("demo")).status, 201);
    const std::string at = "/v1/skills/demo/diff";
    for (const char* query : {"", "?to=current", "?from=", "?from=none&context=-1", "?from=none&context=10001",
                              "?from=none&context=1.5", "?from=none&ignore_whitespace=yes", "?from=none&unknown=1"})
        QVERIFY2(code(ask(Method::Get, at + query)) == "400 invalid_argument", query);
    for (const char* query : {"?from=rev_0", "?from=none&to=none", "?from=none&path=nothing", "?from=1"})
        QVERIFY2(code(ask(Method::Get, at + query)) == "404 not_found", query);
    // Every option is part of the entity tag.
    std::set<std::string> tags;
    for (const char* query : {"?from=none", "?from=current", "?from=none&context=1",
                              "?from=none&ignore_whitespace=true", "?from=none&path=SKILL.md"})
        tags.insert(ask(Method::Get, at + query).header("ETag"));
    QCOMPARE(tags.size(), 5U);
}

void TestApiRoutes::archivesAndJsonGiveTheSameRevision()
{
    const Answer created = ask(Method::Put, "/v1/skills/demo", test::skillBody("demo"));
    QCOMPARE(created.status, 201);
    const std::string at = "/v1/skills/demo/revisions/current/archive";
    const std::vector<std::pair<std::string, std::string>> uploads{
        {"application/gzip", ask(Method::Get, at).body},
        {"application/zip", ask(Method::Get, at + "?format=zip").body}};
    for (const auto& [type, bytes] : uploads) {
        const Answer same = ask(Method::Put, "/v1/skills/demo", bytes, {{"content-type", type}});
        QVERIFY2(same.status == 200, same.bytes().c_str());
        QCOMPARE(same.json().at("revision_created").as_bool(), false);
        const Answer verdict = ask(Method::Post, "/v1/skills/validate", bytes, {{"content-type", type}});
        QCOMPARE(verdict.status, 200);
        QCOMPARE(verdict.json().at("digest"), created.json().at("digest"));
    }
}

void TestApiRoutes::aBrokenArchiveIsAnInvalidPackage()
{
    const Answer put = ask(Method::Put, "/v1/skills/demo", "PK not a zip", {{"content-type", "application/zip"}});
    QCOMPARE(code(put), "422 invalid_package");
    QCOMPARE(put.json().at("errors").at(0).at("code").as_string(), "corrupt_archive");
    const Answer verdict =
        ask(Method::Post, "/v1/skills/validate", "PK not a zip", {{"content-type", "application/zip"}});
    QCOMPARE(verdict.status, 200);
    QCOMPARE(verdict.json().at("valid").as_bool(), false);
    QCOMPARE(ask(Method::Get, "/v1/skills/demo").status, 404);
}

void TestApiRoutes::downloadsAreExactAndPinned()
{
    const Answer created = ask(Method::Put, "/v1/skills/demo", test::skillBody("demo"));
    const std::string digest(created.json().at("digest").as_string());
    const std::string at = "/v1/skills/demo/revisions/";
    const std::string pinned = at + std::string(created.json().at("revision").as_string());
    const Answer logo = ask(Method::Get, pinned + "/files/logo.png");
    QCOMPARE(logo.body, "\x89PNG\r\n\x1a\n");
    QCOMPARE(logo.header("Content-Type"), "image/png");
    QCOMPARE(logo.header("ETag"), "\"" + Digest::ofBytes(logo.body).text() + "\"");
    QCOMPARE(logo.header("Assay-Revision-Digest"), digest);
    QVERIFY(logo.header("Cache-Control").contains("immutable"));
    QVERIFY(!ask(Method::Get, at + "current/files/logo.png").header("Cache-Control").contains("immutable"));
    QCOMPARE(ask(Method::Get, pinned + "/files/scripts%2Fsort.py").body,
             ask(Method::Get, pinned + "/files/scripts/sort.py").body);
    QCOMPARE(ask(Method::Get, pinned + "/files/scripts").status, 404);
    const Answer archive = ask(Method::Get, pinned + "/archive");
    QCOMPARE(archive.header("ETag"), "\"" + digest + "\"");
    QCOMPARE(archive.header("Content-Type"), "application/gzip");
    QCOMPARE(archive.body, ask(Method::Get, pinned + "/archive").body);
    QCOMPARE(code(ask(Method::Get, pinned + "/archive?format=rar")), "400 invalid_argument");
}

void TestApiRoutes::invalidPackagesNameEveryFinding()
{
    const Answer put =
        ask(Method::Put, "/v1/skills/demo", R"({"files": {"SKILL.md": "---\nname: other\n---\n", "../up": "x"}})");
    QCOMPARE(code(put), "422 invalid_package");
    std::set<std::string> codes;
    const json::value problem = put.json();
    for (const json::value& finding : problem.at("errors").as_array())
        codes.insert(std::string(finding.at("code").as_string()));
    QVERIFY(codes.contains("unsafe_path"));
    QVERIFY(codes.contains("missing_description"));
}

void TestApiRoutes::unknownMembersAndNullsAreRefused()
{
    for (const char* body : {R"({"surprise": 1})", R"({"files": null})", R"({"name": "other"})",
                             R"({"files": {"a": 1}})", R"({"name": "demo", "name": "demo"})"})
        QCOMPARE(code(ask(Method::Put, "/v1/skills/demo", body)), "400 invalid_argument");
    const Answer unknown = ask(Method::Put, "/v1/skills/demo", R"({"surprise": 1})");
    QCOMPARE(unknown.json().at("errors").at(0).at("pointer").as_string(), "/surprise");
    QCOMPARE(code(ask(Method::Get, "/v1/skills?surprise=1")), "400 invalid_argument");
    QCOMPARE(code(ask(Method::Get, "/v1/skills?q=a&q=b")), "400 invalid_argument");
    QCOMPARE(code(ask(Method::Get, "/v1/skills?page_size=201")), "400 invalid_argument");
    QCOMPARE(code(ask(Method::Post, "/v1/health/handshake", R"({"driver": "x"})")), "400 invalid_argument");
}

void TestApiRoutes::jsonThatIsNotJsonIsRefused()
{
    for (const std::string& body : {std::string("{"), std::string("[]"), std::string("\"x\""), std::string("{}x"),
                                    std::string("{\"a\":\"\xff\"}"), std::string(100, '[') + std::string(100, ']')})
        for (const char* target : {"/v1/skills/demo", "/v1/agents/demo"})
            QCOMPARE(code(ask(Method::Put, target, body)), "400 invalid_argument");
}

void TestApiRoutes::bodiesOverTheLimitAreTooLarge()
{
    QCOMPARE(code(ask(Method::Put, "/v1/agents/demo", std::string((1U << 20) + 1, ' '))), "413 too_large");
    QCOMPARE(code(ask(Method::Delete, "/v1/skills/demo", std::string(2000, ' '))), "413 too_large");
}

void TestApiRoutes::aRepeatedPostCreatesOnce()
{
    const std::string body = R"({"name": "demo", "content": "---\nname: demo\ndescription: D.\n---\n"})";
    const Answer first = ask(Method::Post, "/v1/skills", body, {{"idempotency-key", "k"}});
    QCOMPARE(first.status, 201);
    QCOMPARE(ask(Method::Post, "/v1/skills", body, {{"idempotency-key", "k"}}).bytes(), first.bytes());
    QCOMPARE(code(ask(Method::Post, "/v1/skills", body + " ", {{"idempotency-key", "k"}})), "409 conflict");
    QCOMPARE(code(ask(Method::Post, "/v1/skills", body, {{"idempotency-key", "other"}})), "409 conflict");
    const Answer invalid = ask(Method::Post, "/v1/agents", "{}", {{"idempotency-key", "k"}});
    QCOMPARE(code(invalid), "400 invalid_argument");
    QCOMPARE(ask(Method::Post, "/v1/agents", "{}", {{"idempotency-key", "k"}}).bytes(), invalid.bytes());
    // The key does not lend a role.
    const std::string viewer = m_api->token("a", {"viewer"});
    QCOMPARE(m_api->send(Method::Post, "/v1/skills", {viewer, body, {{"idempotency-key", "k"}}}).status, 403);
}

void TestApiRoutes::aRepeatedTokenRequestGivesTheSameSecretToItsCallerOnly()
{
    const std::string body = R"({"scope": {"tenant": "b"}, "roles": ["viewer"]})";
    const test::Sent sent{m_token, body, {{"idempotency-key", "k"}}};
    const Answer first = m_api->send(Method::Post, "/v1/tokens", sent);
    QCOMPARE(first.status, 201);
    QCOMPARE(m_api->send(Method::Post, "/v1/tokens", sent).bytes(), first.bytes());
    const std::string another = m_api->token("a", {"operator"});
    const Answer others = m_api->send(Method::Post, "/v1/tokens", {another, body, {{"idempotency-key", "k"}}});
    QCOMPARE(others.status, 201); // another person's key is another key
    QVERIFY(others.json().at("secret") != first.json().at("secret"));
    QVERIFY(!ask(Method::Get, "/v1/tokens").body.contains(std::string(first.json().at("secret").as_string())));
}

void TestApiRoutes::aRevokedTokenIsRefusedAtOnce()
{
    const Answer made = ask(Method::Post, "/v1/tokens", R"({"scope": {"tenant": "b"}, "roles": ["viewer"]})");
    const std::string secret(made.json().at("secret").as_string());
    QCOMPARE(m_api->send(Method::Get, "/v1/skills", {.token = secret}).status, 200);
    QCOMPARE(ask(Method::Delete, "/v1/tokens/" + std::string(made.json().at("id").as_string())).status, 204);
    QCOMPARE(m_api->send(Method::Get, "/v1/skills", {.token = secret}).status, 401);
    QCOMPARE(code(ask(Method::Delete, "/v1/tokens/tok_01J00000000000000000000000")), "404 not_found");
}

void TestApiRoutes::aRefusedRunIsListedWithItsReason()
{
    const Answer refused =
        ask(Method::Post, "/v1/runs", R"({"skills": ["demo"], "driver": "none", "command": {"argv": ["/bin/true"]}})");
    QCOMPARE(code(refused), "422 refused");
    QCOMPARE(refused.json().at("reason").as_string(), "driver_unavailable");
    const Answer list = ask(Method::Get, "/v1/runs?state=refused");
    QCOMPARE(list.json().at("items").as_array().size(), 1U);
    QCOMPARE(code(ask(Method::Get, "/v1/runs?state=dead")), "400 invalid_argument");
    QCOMPARE(code(ask(Method::Get, "/v1/runs?since=now")), "400 invalid_argument");
}

void TestApiRoutes::aRunGivesItsParts()
{
    const Answer started = ask(Method::Post, "/v1/runs", R"({"skills": ["demo"], "session": true})");
    QCOMPARE(started.status, 201);
    const std::string run = "/v1/runs/" + std::string(started.json().at("id").as_string());
    QCOMPARE(started.header("Location"), run);
    QCOMPARE(started.json().at("commands").at(0).at("stdout").as_string(), "hello\n");
    QVERIFY(!ask(Method::Get, "/v1/runs").json().at("items").at(0).at("commands").at(0).as_object().contains("stdout"));
    const Answer manifest = ask(Method::Get, run + "/manifest");
    QCOMPARE(manifest.body, "{}");
    QCOMPARE(manifest.header("ETag"), "\"" + std::string(started.json().at("manifest_digest").as_string()) + "\"");
    const Answer command = ask(Method::Post, run + "/commands", R"({"argv": ["/bin/true"]})");
    QCOMPARE(command.status, 201);
    const Answer stderrBytes = ask(Method::Get, command.header("Location") + "/stderr");
    QCOMPARE(stderrBytes.body, "\xff");
    QCOMPARE(stderrBytes.header("Assay-Total-Bytes"), "3");
    QCOMPARE(stderrBytes.header("Assay-Dropped-Bytes"), "2");
    const std::string artifact =
        "/v1/artifacts/" +
        std::string(ask(Method::Get, run + "/artifacts").json().at("items").at(0).at("id").as_string());
    const Answer content = ask(Method::Get, artifact + "/content");
    QCOMPARE(content.body, "hello\n");
    QVERIFY(content.header("Content-Disposition").contains("filename*=UTF-8''a%20b.csv"));
    QCOMPARE(ask(Method::Post, run + "/cancel").status, 200);
}

void TestApiRoutes::eventsResumeAfterTheLastOne()
{
    const Answer started = ask(Method::Post, "/v1/runs", R"({"skills": ["demo"], "session": true})");
    const std::string events = started.header("Location") + "/events";
    const Answer all = ask(Method::Get, events);
    QCOMPARE(all.header("Content-Type"), "text/event-stream");
    QVERIFY(all.body.contains("id: 1\nevent: end\n"));
    QCOMPARE(ask(Method::Get, events, {}, {{"last-event-id", "1"}}).body, "");
    QCOMPARE(code(ask(Method::Get, events, {}, {{"last-event-id", "x"}})), "400 invalid_argument");
}

void TestApiRoutes::methodsThatAreNotThereNameThoseThatAre()
{
    const Answer answer = ask(Method::Delete, "/v1/skills");
    QCOMPARE(answer.status, 405);
    QCOMPARE(answer.header("Allow"), "GET, HEAD, POST");
    QCOMPARE(ask(Method::Head, "/livez").status, 200);
    QCOMPARE(code(ask(Method::Get, "/v2/skills")), "404 not_found");
}

QTEST_GUILESS_MAIN(TestApiRoutes)
#include "tst_api_routes.moc"
