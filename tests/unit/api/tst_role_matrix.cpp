// SPDX-License-Identifier: Apache-2.0
// Who may do what, written by hand beside the route table: a route without a row here fails.
#include "server/api/route.h"
#include "tests/unit/api/api_fixture.h"

#include <set>

using namespace assay;
using api::Method;

class TestRoleMatrix : public QObject
{
    Q_OBJECT

private slots:
    void everyRouteHasItsRow();
    void everyRoleGetsWhatItsRowSays();
    void withoutATokenNothingIsAnswered();
    void theRoleIsJudgedBeforeTheObject();
    void severalRolesAddUp();
};

namespace {

constexpr std::array<const char*, 5> kRoles{"viewer", "builder", "reviewer", "runner", "operator"};

/// The letters of the roles that may: v b r(eviewer) x(runner) o; "open" needs no token.
const std::map<std::string, std::string> kMatrix{
    {"GET /v1/skills", "vbrx"},
    {"POST /v1/skills", "b"},
    {"POST /v1/skills/validate", "b"},
    {"GET /v1/skills/{name}", "vbrx"},
    {"PUT /v1/skills/{name}", "b"},
    {"PATCH /v1/skills/{name}", "b"},
    {"DELETE /v1/skills/{name}", "b"},
    {"GET /v1/skills/{name}/revisions", "vbrx"},
    {"GET /v1/skills/{name}/revisions/{rev}", "vbrx"},
    {"GET /v1/skills/{name}/revisions/{rev}/files", "vbrx"},
    {"GET /v1/skills/{name}/revisions/{rev}/files/{path...}", "vbrx"},
    {"GET /v1/skills/{name}/revisions/{rev}/archive", "vbrx"},
    {"GET /v1/skills/{name}/revisions/{rev}/capabilities", "vbrx"},
    {"GET /v1/skills/{name}/diff", "vbrx"},
    {"POST /v1/skills/{name}/revisions/{rev}/promote", "r"},
    {"POST /v1/skills/{name}/revisions/{rev}/withdraw", "r"},
    {"GET /v1/agents", "vbrx"},
    {"POST /v1/agents", "b"},
    {"GET /v1/agents/{name}", "vbrx"},
    {"PUT /v1/agents/{name}", "b"},
    {"DELETE /v1/agents/{name}", "b"},
    {"GET /v1/agents/{name}/revisions", "vbrx"},
    {"GET /v1/runs", "vbrx"},
    {"POST /v1/runs", "x"},
    {"GET /v1/runs/{id}", "vbrx"},
    {"GET /v1/runs/{id}/manifest", "vbrx"},
    {"GET /v1/runs/{id}/events", "vbrx"},
    {"GET /v1/runs/{id}/skills/{name}/files", "vbrx"},
    {"GET /v1/runs/{id}/skills/{name}/files/{path...}", "vbrx"},
    {"GET /v1/runs/{id}/artifacts", "vbrx"},
    {"POST /v1/runs/{id}/commands", "x"},
    {"GET /v1/runs/{id}/commands/{cmd}", "vbrx"},
    {"GET /v1/runs/{id}/commands/{cmd}/stdout", "vbrx"},
    {"GET /v1/runs/{id}/commands/{cmd}/stderr", "vbrx"},
    {"POST /v1/runs/{id}/cancel", "x"},
    {"POST /v1/runs/{id}/finish", "x"},
    {"GET /v1/artifacts/{id}", "vbrx"},
    {"GET /v1/artifacts/{id}/content", "vbrx"},
    {"GET /v1/audit", "ro"},
    {"GET /v1/audit/export", "ro"},
    {"GET /v1/audit/verify", "ro"},
    {"GET /v1/tokens", "o"},
    {"POST /v1/tokens", "o"},
    {"GET /v1/tokens/{id}", "o"},
    {"DELETE /v1/tokens/{id}", "o"},
    {"POST /v1/collections", "o"},
    {"GET /v1/skills/{name}/promotions", "vbrx"},
    {"GET /v1/skills/{name}/samples", "vbrx"},
    {"GET /v1/skills/{name}/samples/{sample}", "vbrx"},
    {"PUT /v1/skills/{name}/samples/{sample}", "br"},
    {"DELETE /v1/skills/{name}/samples/{sample}", "br"},
    {"POST /v1/skills/{name}/comparisons", "rx"},
    {"GET /v1/skills/{name}/comparisons/{id}", "vbrx"},
    {"GET /v1/proposals", "vbrx"},
    {"GET /v1/proposals/{id}", "vbrx"},
    {"GET /v1/proposals/{id}/comments", "vbrx"},
    {"POST /v1/proposals/{id}/comments", "br"},
    {"PATCH /v1/proposals/{id}/comments/{comment}", "br"},
    {"DELETE /v1/proposals/{id}/comments/{comment}", "br"},
    {"GET /v1/proposals/{id}/reviews", "vbrx"},
    {"POST /v1/proposals/{id}/reviews", "br"},
    {"DELETE /v1/proposals/{id}/verdict", "r"},
    {"POST /v1/proposals/{id}/resolve", "br"},
    {"POST /v1/proposals/{id}/acknowledge", "r"},
    {"GET /v1/proposals/{id}/viewed", "vbrx"},
    {"PUT /v1/proposals/{id}/viewed/{path...}", "vbrx"},
    {"DELETE /v1/proposals/{id}/viewed/{path...}", "vbrx"},
    {"POST /v1/proposals/{id}/test-runs", "rx"},
    {"POST /v1/proposals/{id}/promote", "r"},
    {"POST /v1/proposals/{id}/withdraw", "br"},
    {"GET /v1/stops", "o"},
    {"POST /v1/stops", "o"},
    {"GET /v1/stops/{digest}", "o"},
    {"DELETE /v1/stops/{digest}", "o"},
    {"GET /v1/scope", "vbrx"},
    {"GET /v1/scopes/{fingerprint}", "o"},
    {"PATCH /v1/scopes/{fingerprint}", "o"},
    {"GET /v1/health", "vbrxo"},
    {"POST /v1/health/handshake", "xo"},
    {"GET /v1/server", "vbrxo"},
    {"GET /livez", "open"},
    {"GET /readyz", "open"},
    {"GET /openapi.json", "open"},
};

constexpr std::string_view kLetters = "vbrxo";

std::string rowName(const api::Route& route)
{
    return std::string(api::methodName(route.method)) + " " + std::string(route.path);
}

/// A target of the route whose objects are missing.
std::string targetOf(const api::Route& route)
{
    std::string out(route.path);
    for (auto open = out.find('{'); open != std::string::npos; open = out.find('{'))
        out.replace(open, out.find('}') - open + 1, "missing");
    return out;
}

} // namespace

void TestRoleMatrix::everyRouteHasItsRow()
{
    std::set<std::string> seen;
    for (const api::Route& route : api::routeTable()) {
        QVERIFY2(kMatrix.contains(rowName(route)), rowName(route).c_str());
        seen.insert(rowName(route));
    }
    QCOMPARE(seen.size(), kMatrix.size());
    QCOMPARE(api::routeTable().size(), kMatrix.size());
}

void TestRoleMatrix::everyRoleGetsWhatItsRowSays()
{
    test::ApiFixture fixture;
    for (std::size_t i = 0; i < kRoles.size(); ++i) {
        const std::string token = fixture.token("a", {kRoles[i]});
        for (const api::Route& route : api::routeTable()) {
            const std::string& row = kMatrix.at(rowName(route));
            const bool may = row == "open" || row.contains(kLetters[i]);
            const auto answer = fixture.send(route.method, targetOf(route), {.token = token});
            QVERIFY2((answer.status != 403) == may, (rowName(route) + " as " + kRoles[i]).c_str());
            QVERIFY2(answer.status != 401 && answer.status != 405 && answer.status < 500,
                     (rowName(route) + "\n" + answer.bytes()).c_str());
        }
    }
}

void TestRoleMatrix::withoutATokenNothingIsAnswered()
{
    test::ApiFixture fixture;
    std::set<std::string> answers;
    for (const api::Route& route : api::routeTable()) {
        const auto answer = fixture.send(route.method, targetOf(route));
        if (kMatrix.at(rowName(route)) == "open") {
            QCOMPARE(answer.status, 200);
            continue;
        }
        QCOMPARE(answer.status, 401);
        QCOMPARE(answer.header("WWW-Authenticate"), "Bearer");
        answers.insert(answer.bytes());
    }
    answers.insert(fixture.send(Method::Get, "/v1/unknown").bytes());
    answers.insert(fixture.send(Method::Get, "/").bytes());
    answers.insert(fixture.send(Method::Get, "/v1/skills", {.token = "assay_wrong"}).bytes());
    QCOMPARE(answers.size(), 1U);
}

void TestRoleMatrix::theRoleIsJudgedBeforeTheObject()
{
    test::ApiFixture fixture;
    const std::string builder = fixture.token("a", {"builder"});
    const std::string other = fixture.token("b", {"builder"});
    QCOMPARE(fixture.send(Method::Put, "/v1/skills/own", {builder, test::skillBody("own")}).status, 201);
    QCOMPARE(fixture.send(Method::Put, "/v1/skills/others", {other, test::skillBody("others")}).status, 201);
    const std::string viewer = fixture.token("a", {"viewer"});
    for (const Method method : {Method::Put, Method::Patch, Method::Delete}) {
        std::set<std::string> answers;
        for (const char* name : {"own", "others", "missing"})
            answers.insert(fixture.send(method, std::string("/v1/skills/") + name, {viewer, "not even JSON"}).bytes());
        QCOMPARE(answers.size(), 1U);
        QVERIFY(answers.begin()->starts_with("403"));
    }
}

void TestRoleMatrix::severalRolesAddUp()
{
    test::ApiFixture fixture;
    const std::string token = fixture.token("a", {"viewer", "operator"});
    QCOMPARE(fixture.send(Method::Get, "/v1/skills", {.token = token}).status, 200);
    QCOMPARE(fixture.send(Method::Get, "/v1/tokens", {.token = token}).status, 200);
    QCOMPARE(fixture.send(Method::Post, "/v1/runs", {token, "{}"}).status, 403);
}

QTEST_GUILESS_MAIN(TestRoleMatrix)
#include "tst_role_matrix.moc"
