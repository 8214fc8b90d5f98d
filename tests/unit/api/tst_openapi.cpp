// SPDX-License-Identifier: Apache-2.0
// The document is the authority: routes and replies are compared with it.
#include "server/api/route.h"
#include "server/contract/openapi.h"
#include "tests/unit/api/api_fixture.h"
#include "tests/unit/contract/sample_replies.h"

#include <QProcess>

#include <set>

using namespace assay;
using api::BodyKind;
using api::Method;
using api::Replay;

class TestOpenApi : public QObject
{
    Q_OBJECT

private slots:
    void describesEveryRouteAndNoOther();
    void rolesAgree();
    void queryParametersAgree();
    void bodiesAgree();
    void idempotencyKeysAgree();
    void isServedAsItIs();
    void repliesAreAsDescribed();
    void aWrongReplyIsNoticed();

private:
    test::Answer call(Method method, const std::string& target, const std::string& body = {})
    {
        return m_api->send(method, target, {m_token, body});
    }
    void callSkills();
    void callAgents();
    void callRuns();
    void callProposals();
    void callSamples();
    void callServer();
    void callEndings();

    std::unique_ptr<test::ApiFixture> m_api;
    std::string m_token;
    std::string m_revision;
};

namespace {

const json::object& document()
{
    static const json::value parsed = parseJson(contract::openApiJson()).value();
    return parsed.as_object();
}

std::string described(std::string_view path)
{
    std::string out(path);
    if (const auto rest = out.find("...}"); rest != std::string::npos)
        out.erase(rest, 3);
    return out;
}

std::string lower(std::string_view text)
{
    return QByteArray(text.data(), qsizetype(text.size())).toLower().toStdString();
}

const json::object& pathItem(const api::Route& route)
{
    return document().at("paths").at(described(route.path)).as_object();
}
const json::object& operation(const api::Route& route)
{
    return pathItem(route).at(lower(api::methodName(route.method))).as_object();
}

/// "query:page_size", "header:If-Match", ...
std::set<std::string> parametersOf(const api::Route& route)
{
    std::set<std::string> out;
    for (const json::object* owner : {&pathItem(route), &operation(route)})
        if (const json::value* list = owner->if_contains("parameters"))
            for (const json::value& node : list->as_array()) {
                json::value whole(document());
                const json::value* reference = node.as_object().if_contains("$ref");
                const json::value parameter =
                    reference ? whole.at_pointer(std::string_view(reference->as_string()).substr(1)) : node;
                out.insert(std::string(parameter.at("in").as_string()) + ":" +
                           std::string(parameter.at("name").as_string()));
            }
    return out;
}

std::string rowName(const api::Route& route)
{
    return std::string(api::methodName(route.method)) + " " + std::string(route.path);
}

json::object recordLine(const std::string& route, const test::Answer& answer)
{
    const auto blank = route.find(' ');
    json::object headers;
    for (const auto& [name, value] : answer.headers)
        headers[lower(name)] = value;
    const std::string type = answer.header("Content-Type");
    const bool isJson = type.ends_with("/json") || type.ends_with("+json");
    return {{"method", route.substr(0, blank)},
            {"path", described(route.substr(blank + 1))},
            {"status", answer.status},
            {"headers", std::move(headers)},
            {"body", isJson ? answer.json() : json::value()}};
}

/// The validator's exit status; its output goes to the test's.
int validate(const std::vector<json::object>& lines)
{
    const QTemporaryDir dir;
    QFile openapi(dir.filePath("openapi.json"));
    QFile record(dir.filePath("record"));
    if (!openapi.open(QIODevice::WriteOnly) || !record.open(QIODevice::WriteOnly))
        return -1;
    openapi.write(std::string(contract::openApiJson()).c_str());
    for (const json::object& line : lines)
        record.write((json::serialize(line) + "\n").c_str());
    openapi.close();
    record.close();
    QProcess python;
    python.setProcessChannelMode(QProcess::MergedChannels);
    python.start("python3",
                 {ASSAY_SOURCE_DIR "/tests/unit/api/validate_replies.py", openapi.fileName(), record.fileName()});
    if (!python.waitForFinished(60'000))
        return -1;
    qInfo("%s", python.readAll().constData());
    return python.exitStatus() == QProcess::NormalExit ? python.exitCode() : -1;
}

} // namespace

void TestOpenApi::describesEveryRouteAndNoOther()
{
    std::set<std::string> routes;
    for (const api::Route& route : api::routeTable())
        routes.insert(lower(api::methodName(route.method)) + " " + described(route.path));
    std::set<std::string> operations;
    for (const auto& path : document().at("paths").as_object())
        for (const auto& member : path.value().as_object())
            if (member.key() != "parameters")
                operations.insert(std::string(member.key()) + " " + std::string(path.key()));
    QCOMPARE(operations, routes);
}

void TestOpenApi::rolesAgree()
{
    for (const api::Route& route : api::routeTable()) {
        const json::object& found = operation(route);
        if (route.roles == auth::Roles()) {
            QVERIFY2(found.at("security").as_array().empty(), rowName(route).c_str());
            continue;
        }
        std::vector<std::string> roles;
        for (const json::value& role : found.at("x-roles").as_array())
            roles.emplace_back(role.as_string());
        const auto named = auth::rolesNamed(roles);
        ASSAY_OK(named);
        QVERIFY2(*named == route.roles, rowName(route).c_str());
    }
}

void TestOpenApi::queryParametersAgree()
{
    for (const api::Route& route : api::routeTable()) {
        std::set<std::string> inDocument;
        for (const std::string& name : parametersOf(route))
            if (name.starts_with("query:"))
                inDocument.insert(name.substr(6));
        const std::set<std::string> inTable(route.query.begin(), route.query.end());
        QVERIFY2(inDocument == inTable, rowName(route).c_str());
    }
}

void TestOpenApi::bodiesAgree()
{
    for (const api::Route& route : api::routeTable()) {
        const json::value* body = operation(route).if_contains("requestBody");
        QVERIFY2((body != nullptr) == (route.body != BodyKind::None), rowName(route).c_str());
        if (!body)
            continue;
        const json::object& content = body->at("content").as_object();
        QVERIFY(content.contains("application/json"));
        QVERIFY2(content.contains("application/zip") == (route.body == BodyKind::Package), rowName(route).c_str());
    }
}

void TestOpenApi::idempotencyKeysAgree()
{
    for (const api::Route& route : api::routeTable())
        QVERIFY2(parametersOf(route).contains("header:Idempotency-Key") == (route.replay != Replay::No),
                 rowName(route).c_str());
}

void TestOpenApi::isServedAsItIs()
{
    test::ApiFixture fixture;
    const auto answer = fixture.send(Method::Get, "/openapi.json");
    QCOMPARE(answer.status, 200);
    QCOMPARE(answer.header("Content-Type"), "application/json");
    QVERIFY(answer.body == contract::openApiJson());
    QCOMPARE(fixture
                 .send(Method::Get, "/openapi.json",
                       {.token = {}, .body = {}, .headers = {{"if-none-match", answer.header("ETag")}}})
                 .status,
             304);
}

void TestOpenApi::callSkills()
{
    const std::string body = R"({"name": "demo", "content": "---\nname: demo\ndescription: A b.\n---\nx\n"})";
    const auto created = call(Method::Post, "/v1/skills", body);
    QCOMPARE(created.status, 201);
    const std::string first(created.json().at("revision").as_string());
    QCOMPARE(call(Method::Post, "/v1/skills", body).status, 409);
    QCOMPARE(call(Method::Post, "/v1/skills", R"({"name": "broken", "content": "no frontmatter"})").status, 422);
    const auto put = call(Method::Put, "/v1/skills/demo", test::skillBody("demo", "two"));
    QCOMPARE(put.status, 200);
    m_revision = "/v1/skills/demo/revisions/" + std::string(put.json().at("revision").as_string());
    for (const std::string& target :
         {std::string("/v1/skills"), std::string("/v1/skills?page_size=1"), std::string("/v1/skills/demo"),
          std::string("/v1/skills/demo/revisions"), m_revision, m_revision + "/files", m_revision + "/files/SKILL.md",
          std::string("/v1/skills/demo/diff?from=none"),
          "/v1/skills/demo/diff?from=" + first + "&context=0&ignore_whitespace=true",
          "/v1/skills/demo/diff?from=" + first + "&path=logo.png", m_revision + "/capabilities",
          m_revision + "/files/logo.png", m_revision + "/archive", m_revision + "/archive?format=zip"})
        QVERIFY2(call(Method::Get, target).status == 200, target.c_str());
    QCOMPARE(call(Method::Patch, "/v1/skills/demo", R"({"labels": {"team": "a"}})").status, 200);
    QCOMPARE(call(Method::Post, "/v1/skills/validate", test::skillBody("demo")).status, 200);
    QCOMPARE(call(Method::Post, "/v1/skills/validate", R"({"content": "x"})").status, 200);
    QCOMPARE(call(Method::Post, m_revision + "/promote").status, 200);
}

void TestOpenApi::callAgents()
{
    QCOMPARE(
        call(Method::Post, "/v1/agents", R"({"name": "helper", "skills": ["demo"], "limits": {"cpus": 0.5}})").status,
        201);
    QCOMPARE(
        call(Method::Put, "/v1/agents/helper", R"({"skills": ["demo"], "subagents": [{"name": "sub", "skills": []}]})")
            .status,
        200);
    for (const char* target : {"/v1/agents", "/v1/agents/helper", "/v1/agents/helper/revisions"})
        QVERIFY2(call(Method::Get, target).status == 200, target);
}

void TestOpenApi::callRuns()
{
    const std::string refused = R"({"agent": "helper", "driver": "none", "command": {"argv": ["/bin/true"]}})";
    QCOMPARE(call(Method::Post, "/v1/runs", refused).status, 422);
    const auto started = call(Method::Post, "/v1/runs", R"({"agent": "helper", "session": true})");
    QCOMPARE(started.status, 201);
    const std::string run = "/v1/runs/" + std::string(started.json().at("id").as_string());
    const std::string command =
        run + "/commands/" + std::string(started.json().at("commands").at(0).at("id").as_string());
    const std::string artifact =
        "/v1/artifacts/" + std::string(started.json().at("artifacts").at(0).at("id").as_string());
    for (const std::string& target :
         {std::string("/v1/runs"), run, run + "/manifest", run + "/events", run + "/skills/demo/files",
          run + "/skills/demo/files/SKILL.md", run + "/artifacts", command, command + "/stdout", command + "/stderr",
          artifact, artifact + "/content"})
        QVERIFY2(call(Method::Get, target).status == 200, target.c_str());
    QCOMPARE(call(Method::Post, run + "/commands", R"({"argv": ["/bin/true"]})").status, 201);
    QCOMPARE(call(Method::Post, run + "/cancel").status, 200);
    QCOMPARE(call(Method::Post, run + "/finish").status, 200);
    QCOMPARE(call(Method::Get, "/v1/runs/run_01J00000000000000000000000").status, 404);
}

void TestOpenApi::callProposals()
{
    const std::string reviewer = m_api->token("a", {"reviewer"});
    const auto review = [&](Method method, const std::string& target, const std::string& body = {}) {
        return m_api->send(method, target, {reviewer, body});
    };
    const std::string settings =
        "/v1/scopes/" + std::string(call(Method::Get, "/v1/scope").json().at("fingerprint").as_string());
    QCOMPARE(
        call(Method::Patch, settings, R"({"promotion_mode": "reviewed", "required_checks": ["package_valid"]})").status,
        200);
    const auto published = call(Method::Put, "/v1/skills/reviewed", test::skillBody("reviewed"));
    QCOMPARE(published.status, 201);
    const std::string proposal = "/v1/proposals/" + std::string(published.json().at("proposal").as_string());
    QCOMPARE(call(Method::Post, proposal + "/promote").status, 403);
    QCOMPARE(review(Method::Post, proposal + "/promote").status, 409);
    QCOMPARE(review(Method::Post, proposal + "/comments", R"({"text": "Why?"})").status, 201);
    const auto draft = review(Method::Post, proposal + "/comments",
                              R"({"path": "SKILL.md", "line": 2, "text": "Here.", "draft": true})");
    QCOMPARE(draft.status, 201);
    const std::string comment(draft.json().at("id").as_string());
    QCOMPARE(review(Method::Patch, proposal + "/comments/" + comment, R"({"text": "There."})").status, 200);
    QCOMPARE(review(Method::Post, proposal + "/reviews", R"({"verdict": "request_changes"})").status, 201);
    QCOMPARE(review(Method::Post, proposal + "/resolve", test::member("comment", comment)).status, 200);
    QCOMPARE(review(Method::Delete, proposal + "/verdict").status, 200);
    const auto other = review(Method::Post, proposal + "/comments", R"({"text": "x", "draft": true})");
    QCOMPARE(review(Method::Delete, proposal + "/comments/" + std::string(other.json().at("id").as_string())).status,
             204);
    QCOMPARE(review(Method::Put, proposal + "/viewed/scripts/sort.py").status, 204);
    for (const char* rest : {"", "/comments", "/reviews", "/viewed"})
        QVERIFY2(review(Method::Get, proposal + rest).status == 200, rest);
    QCOMPARE(review(Method::Delete, proposal + "/viewed/scripts/sort.py").status, 204);
    const std::string digest(published.json().at("digest").as_string());
    QCOMPARE(review(Method::Post, proposal + "/acknowledge", test::member("digest", digest)).status, 200);
    QCOMPARE(review(Method::Post, proposal + "/reviews", R"({"verdict": "approve", "comments": [{"text": "Good."}]})")
                 .status,
             201);
    callSamples();
    QCOMPARE(call(Method::Post, proposal + "/test-runs").status, 201);
    QCOMPARE(review(Method::Post, proposal + "/promote", R"({"reason": "fine"})").status, 200);
    QCOMPARE(call(Method::Get, "/v1/skills/reviewed/promotions").status, 200);
    QCOMPARE(call(Method::Get, "/v1/skills/reviewed/promotions?at=2000-01-01T00%3A00%3A00Z").status, 200);
    const auto second = call(Method::Put, "/v1/skills/reviewed", test::skillBody("reviewed", "two"));
    QCOMPARE(call(Method::Get, "/v1/proposals").status, 200);
    QCOMPARE(call(Method::Post, "/v1/proposals/" + std::string(second.json().at("proposal").as_string()) + "/withdraw",
                  R"({"reason": "no"})")
                 .status,
             200);
    QCOMPARE(call(Method::Patch, settings, R"({"promotion_mode": "automatic"})").status, 200);
}

void TestOpenApi::callSamples()
{
    const std::string skill = "/v1/skills/reviewed";
    QCOMPARE(call(Method::Put, skill + "/samples/small",
                  R"({"script": "scripts/sort.py", "input": [1], "expect": {"exit_code": 0, "output": null}})")
                 .status,
             201);
    QCOMPARE(call(Method::Put, skill + "/samples/gone", R"({"script": "scripts/sort.py", "stdin": "x"})").status, 201);
    QCOMPARE(call(Method::Get, skill + "/samples").status, 200);
    QCOMPARE(call(Method::Get, skill + "/samples/small").status, 200);
    QCOMPARE(call(Method::Delete, skill + "/samples/gone").status, 204);
    const std::string revision(call(Method::Get, skill + "/revisions").json().at("items").at(0).at("id").as_string());
    const auto compared = call(Method::Post, skill + "/comparisons",
                               R"({"sample": "small", "from": ")" + revision + R"(", "to": ")" + revision + "\"}");
    QCOMPARE(compared.status, 201);
    QCOMPARE(call(Method::Get, skill + "/comparisons/" + std::string(compared.json().at("id").as_string())).status,
             200);
}

void TestOpenApi::callServer()
{
    const std::string stopped = Digest::ofBytes("stopped").text();
    const json::object stop{{"reason", "x"}, {"digest", stopped}};
    QCOMPARE(call(Method::Post, "/v1/stops", json::serialize(stop)).status, 201);
    QCOMPARE(call(Method::Get, "/v1/stops").status, 200);
    QCOMPARE(call(Method::Get, "/v1/stops/" + stopped).status, 200);
    QCOMPARE(call(Method::Delete, "/v1/stops/" + stopped).status, 204);
    const auto made = call(Method::Post, "/v1/tokens", R"({"scope": {"a": "b"}, "roles": ["viewer"]})");
    const std::string tokenPath = "/v1/tokens/" + std::string(made.json().at("id").as_string());
    QCOMPARE(call(Method::Get, "/v1/tokens").status, 200);
    QCOMPARE(call(Method::Get, tokenPath).status, 200);
    QCOMPARE(call(Method::Delete, tokenPath).status, 204);
    const auto scope = call(Method::Get, "/v1/scope");
    QCOMPARE(scope.status, 200);
    const std::string settings = "/v1/scopes/" + std::string(scope.json().at("fingerprint").as_string());
    QCOMPARE(call(Method::Get, settings).status, 200);
    QCOMPARE(call(Method::Patch, settings, R"({"required_approvals": 2})").status, 200);
    for (const char* target : {"/v1/health", "/v1/server", "/livez", "/readyz", "/openapi.json"})
        QVERIFY2(call(Method::Get, target).status == 200, target);
    QCOMPARE(call(Method::Post, "/v1/health/handshake").status, 200);
    QCOMPARE(call(Method::Post, "/v1/collections", R"({"dry_run": true})").status, 200);
    QCOMPARE(call(Method::Post, "/v1/collections", R"({"dry_run": 1})").status, 400);
    for (const char* target : {"/v1/audit", "/v1/audit?page_size=1", "/v1/audit/export", "/v1/audit/verify"})
        QVERIFY2(call(Method::Get, target).status == 200, target);
}

void TestOpenApi::callEndings()
{
    QCOMPARE(call(Method::Post, m_revision + "/withdraw", R"({"reason": "leaks"})").status, 200);
    QCOMPARE(call(Method::Delete, "/v1/agents/helper").status, 204);
    QCOMPARE(call(Method::Delete, "/v1/skills/demo").status, 204);
}

void TestOpenApi::repliesAreAsDescribed()
{
    m_api = std::make_unique<test::ApiFixture>();
    m_token = m_api->token("a", {"viewer", "builder", "reviewer", "runner", "operator"});
    for (const auto step : {&TestOpenApi::callSkills, &TestOpenApi::callAgents, &TestOpenApi::callRuns,
                            &TestOpenApi::callProposals, &TestOpenApi::callServer, &TestOpenApi::callEndings}) {
        (this->*step)();
        if (QTest::currentTestFailed())
            return;
    }
    std::vector<json::object> lines;
    std::set<std::string> seen; // answered well at least once
    for (const auto& [route, answer] : m_api->record()) {
        lines.push_back(recordLine(route, answer));
        if (answer.status < 300)
            seen.insert(route);
    }
    for (const api::Route& route : api::routeTable())
        QVERIFY2(seen.contains(rowName(route)), rowName(route).c_str());
    for (const auto& [name, reply] : test::sampleReplies())
        lines.push_back({{"schema", name.substr(0, name.find('-'))}, {"body", reply}});
    QCOMPARE(validate(lines), 0);
    m_api.reset();
}

void TestOpenApi::aWrongReplyIsNoticed()
{
    const test::Answer wrong{200, {{"Content-Type", "application/json"}, {"ETag", "\"7\""}}, R"({"name": "demo"})"};
    QCOMPARE(validate({recordLine("GET /v1/skills/{name}", wrong)}), 1);
    const test::Answer untagged{304, {}, ""};
    QCOMPARE(validate({recordLine("GET /v1/skills/{name}", untagged)}), 1);
    QCOMPARE(validate({}), 1);
}

QTEST_GUILESS_MAIN(TestOpenApi)
#include "tst_openapi.moc"
