// SPDX-License-Identifier: Apache-2.0
#include "server/contract/codec.h"
#include "tests/support/test_support.h"

#include <functional>

using namespace assay;
using namespace assay::contract;

class TestRequests : public QObject
{
    Q_OBJECT

private slots:
    void readsAPublish();
    void decodesAssetsStrictly();
    void refusesContradictions_data();
    void refusesContradictions();
    void refusesUnknownMembersInEveryBody();
    void readsARun();
    void readsASessionAndItsCommands();
    void readsAnAgentNamedByItsPath();
    void readsATokenRequest();
    void keepsNullInput();
};

namespace {

using Read = std::function<std::optional<Error>(const json::value&)>;

template <typename T> Read reader(Result<T> (*read)(const json::value&))
{
    return [read](const json::value& body) -> std::optional<Error> {
        auto out = read(body);
        return out ? std::nullopt : std::optional(out.error());
    };
}

const std::map<std::string, Read>& readers()
{
    static const std::map<std::string, Read> all{
        {"publish",
         reader<PublishSkill>([](const json::value& body) { return readPublishSkill(body, NameFrom::Body); })},
        {"replace",
         reader<PublishSkill>([](const json::value& body) { return readPublishSkill(body, NameFrom::Path, "a"); })},
        {"patch", reader<PatchSkill>(&readPatchSkill)},
        {"withdraw", reader<WithdrawRequest>(&readWithdraw)},
        {"agent", reader<AgentDefinition>([](const json::value& body) { return readAgent(body); })},
        {"agent-put", reader<AgentDefinition>([](const json::value& body) { return readAgent(body, "a"); })},
        {"run", reader<StartRun>(&readStartRun)},
        {"command", reader<StartCommand>(&readStartCommand)},
        {"token", reader<CreateToken>(&readCreateToken)}};
    return all;
}

std::optional<Error> readBody(const std::string& kind, const std::string& body)
{
    return readers().at(kind)(parseJson(body).value());
}

} // namespace

void TestRequests::readsAPublish()
{
    const auto read = readPublishSkill(parseJson(R"({"name": "demo", "files": {"SKILL.md": "x", "a\u0000b": ""},
        "assets": {"i.png": "iVBORw=="}, "executable": ["i.png"], "note": "first", "enabled": false,
        "visibility": "restricted"})")
                                           .value(),
                                       NameFrom::Body);
    ASSAY_OK(read);
    QCOMPARE(read->name, std::optional<std::string>("demo"));
    QCOMPARE(read->files.size(), 2U); // an unsafe path is the package rules' to refuse, with its own code
    QCOMPARE(read->assets.at("i.png"), "\x89PNG");
    QCOMPARE(read->visibility, std::optional<std::string>("restricted"));
    QCOMPARE(read->enabled, std::optional(false));
}

void TestRequests::decodesAssetsStrictly()
{
    for (const char* bad : {"iVBORw", "iVBORw=", "iVBO Rw==", "iVBORx==", "i-_="})
        QVERIFY2(readBody("publish", std::string(R"({"name": "a", "assets": {"x": ")") + bad + "\"}}"), bad);
}

void TestRequests::refusesContradictions_data()
{
    QTest::addColumn<QByteArray>("kind");
    QTest::addColumn<QByteArray>("body");
    QTest::addColumn<QByteArray>("pointer");
    const auto row = [](const char* kind, const char* body, const char* pointer) {
        QTest::addRow("%s %s", kind, body) << QByteArray(kind) << QByteArray(body) << QByteArray(pointer);
    };
    row("publish", R"({"files": {}})", "/name");
    row("publish", R"({"name": "a", "content": "x", "files": {"SKILL.md": "y"}})", "/content");
    row("publish", R"({"name": "a", "content": "x", "executable": ["run.sh"]})", "/executable");
    row("publish", R"({"name": "a", "visibility": "all"})", "/visibility");
    row("publish", R"({"name": "a", "note": null})", "/note");
    row("replace", R"({"name": "b"})", "/name");
    row("patch", R"({"labels": {"a": null}})", "/labels/a");
    row("withdraw", "{}", "/reason");
    row("withdraw", R"({"reason": ""})", "/reason");
    row("agent", R"({"skills": []})", "/name");
    row("agent", R"({"name": "a"})", "/skills");
    row("agent-put", R"({"name": "b", "skills": []})", "/name");
    row("agent", R"({"name": "a", "skills": [], "execution": "maybe"})", "/execution");
    row("agent", R"({"name": "a", "skills": [], "subagents": [{"name": "s"}]})", "/subagents/0/skills");
    row("agent", R"({"name": "a", "skills": [], "limits": {"cpus": 0}})", "/limits/cpus");
    row("agent", R"({"name": "a", "skills": [], "egress": {"max_bytes": 0.5}})", "/egress/max_bytes");
    row("run", "{}", "");
    row("run", R"({"agent": "a", "skills": ["b"], "session": true})", "");
    row("run", R"({"agent": "a"})", "");
    row("run", R"({"agent": "a", "session": false})", "");
    row("run", R"({"agent": "a", "session": true, "command": {"argv": ["x"]}})", "/session");
    row("run", R"({"agent": "a", "command": {}})", "/command");
    row("run", R"({"agent": "a", "command": {"argv": []}})", "/command/argv");
    row("run", R"({"agent": "a", "command": {"argv": ["x"], "skill": "s"}})", "/command");
    row("run", R"({"agent": "a", "command": {"skill": "s"}})", "/command/script");
    row("run", R"({"agent": "a", "command": {"skill": "s", "script": "x", "input": 1, "stdin": ""}})",
        "/command/stdin");
    row("run", R"({"agent": "a", "command": {"argv": ["a\u0000b"]}})", "/command/argv/0");
    row("run", R"({"agent": "a", "command": {"argv": ["x"], "env": {"A=B": ""}}})", "/command/env");
    row("run", R"({"agent": "a", "session": true, "wait_ms": 120001})", "/wait_ms");
    row("run", R"({"agent": "a", "session": true, "wait_ms": -1})", "/wait_ms");
    row("run", R"({"agent": "a", "session": true, "limits": {"memory_bytes": 1e400}})", "not json");
    row("run", R"({"agent": "a", "session": true, "limits": {"output_mode": "drop"}})", "/limits/output_mode");
    row("run", R"({"agent": "a", "session": true, "egress": {"tier": "all"}})", "/egress/tier");
    row("command", "{}", "");
    row("command", R"({"argv": ["a"], "shell": "a"})", "");
    row("command", R"({"argv": []})", "/argv");
    row("command", R"({"shell": "a", "timeout_ms": 0})", "/timeout_ms");
    row("token", "{}", "/scope");
    row("token", R"({"scope": {}, "roles": ["admin"]})", "/roles/0");
    row("token", R"({"scope": {"a": 1}, "roles": []})", "/scope/a");
}

void TestRequests::refusesContradictions()
{
    QFETCH(QByteArray, kind);
    QFETCH(QByteArray, body);
    QFETCH(QByteArray, pointer);
    if (pointer == "not json") {
        QVERIFY(!parseJson(body.toStdString()));
        return;
    }
    const auto error = readBody(kind.toStdString(), body.toStdString());
    QVERIFY(error && error->code == ErrorCode::InvalidArgument);
    QCOMPARE(error->problems.front().pointer, pointer.toStdString());
}

void TestRequests::refusesUnknownMembersInEveryBody()
{
    for (const auto& [kind, read] : readers()) {
        const auto error = readBody(kind, R"({"surprise": 1})");
        QVERIFY2(error && std::ranges::contains(error->problems, std::string("/surprise"), &Problem::pointer),
                 kind.c_str());
        QVERIFY2(readBody(kind, "[]"), kind.c_str());
    }
    const auto nested = readBody(
        "run",
        R"({"agent": "a", "command": {"argv": ["x"], "surprise": 1}, "limits": {"surprise": 1}, "egress": {"surprise": 1}})");
    QVERIFY(nested);
    QCOMPARE(nested->problems.size(), 3U);
}

void TestRequests::readsARun()
{
    const auto read =
        readStartRun(parseJson(R"({"skills": ["a", "b"], "command": {"skill": "a", "script": "scripts/x.py",
        "args": ["--n", "1"], "input": {"n": 1}, "env": {"LANG": "C"}}, "outputs": ["*.csv"], "limits": {"cpus": 0.5, "wall_ms": 1000,
        "output_mode": "terminate"}, "egress": {"tier": "none"}, "files": {"in.txt": "x"}, "driver": "bubblewrap", "wait_ms": 0})")
                         .value());
    ASSAY_OK(read);
    QCOMPARE(read->skills.size(), 2U);
    QCOMPARE(read->command->args.back(), "1");
    QCOMPARE(canonicalJson(*read->command->input), R"({"n":1})");
    QCOMPARE(read->limits->cpus, std::optional(0.5));
    QCOMPARE(read->waitMs, std::optional<std::uint64_t>(0));
}

void TestRequests::readsASessionAndItsCommands()
{
    ASSAY_OK(readStartRun(parseJson(R"({"agent": "a", "session": true})").value()));
    const auto command =
        readStartCommand(parseJson(R"({"shell": "ls", "stdin": "a\u0000", "cwd": "/tmp", "timeout_ms": 5})").value());
    ASSAY_OK(command);
    QCOMPARE(command->stdinText->size(), 2U);
}

void TestRequests::readsAnAgentNamedByItsPath()
{
    const auto read =
        readAgent(parseJson(R"({"skills": ["x"], "subagents": [{"name": "s", "skills": []}], "limits": {}})").value(),
                  "from-path");
    ASSAY_OK(read);
    QCOMPARE(read->name, "from-path");
    QVERIFY(read->limits.has_value());
    QCOMPARE(read->execution, "inherit");
}

void TestRequests::readsATokenRequest()
{
    const auto read = readCreateToken(
        parseJson(R"({"scope": {"org": "a"}, "roles": ["viewer"], "expires_at": "2030-01-01T00:00:00Z"})").value());
    ASSAY_OK(read);
    QVERIFY(read->principal.empty() && read->expiresAt);
}

void TestRequests::keepsNullInput()
{
    const auto read = readStartRun(
        parseJson(R"({"skills": ["a"], "command": {"skill": "a", "script": "x", "input": null}})").value());
    ASSAY_OK(read);
    QVERIFY(read->command->input && read->command->input->is_null());
}

QTEST_APPLESS_MAIN(TestRequests)
#include "tst_requests.moc"
