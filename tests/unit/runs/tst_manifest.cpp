// SPDX-License-Identifier: Apache-2.0
#include "server/core/file_io.h"
#include "server/core/json.h"
#include "server/runs/manifest.h"
#include "tests/support/test_support.h"
#include "tests/unit/runs/package_fixture.h"

#include <set>

using namespace assay;
using namespace assay::runs;

/// Golden files lie beside this file; ASSAY_UPDATE_GOLDEN=1 rewrites them.
class TestManifest : public QObject
{
    Q_OBJECT

private slots:
    void matchesTheGoldenManifest();
    void matchesTheGoldenSessionManifest();
    void matchesTheGoldenSubagentManifest();
    void isCanonicalAndDigested();
    void holdsNoInputAndNoVariable();
    void changesWithEverythingThatExecutes();
    void readsBackItsPackages();
    void refusesAManifestOfAnotherFormat();
    void identitiesTellScopesStoresAgentsAndOrderApart();
};

namespace {

const test::PackageFixture& demo()
{
    static const test::PackageFixture fixture(
        "demo", {{"SKILL.md", "---\nname: demo\ndescription: d\n---\n"}, {"scripts/run.py", "print(1)\n", true}});
    return fixture;
}

RunPlan plan()
{
    RunPlan out;
    out.runId = "run_01ARZ3NDEKTSV4RRFFQ69G5FAV";
    out.scopeFingerprint = "sc_0123456789abcdef0123456789abcdef";
    out.createdAt = parseTimestamp("2026-11-30T12:00:00.000Z").value();
    out.skills = {demo().pinned};
    out.storeIdentity = "database";
    out.driver = "bubblewrap";
    out.base.digest = "host, unpinned";
    out.outputs = {"**"};
    out.command = PlannedCommand{.skill = "demo",
                                 .script = "scripts/run.py",
                                 .args = {"--fast"},
                                 .argv = {},
                                 .env = {{"MODE", "quiet-value"}},
                                 .stdinBytes = "{\"ticket\":\"secret input\"}\n"};
    out.files = {{"in/a.txt", "workspace text"}};
    return out;
}

RunPlan agentPlan()
{
    auto out = plan();
    contract::Agent agent;
    agent.definition.name = "helper";
    agent.definition.skills = {"demo"};
    agent.definition.subagents = {{.name = "reader", .skills = {"demo"}}};
    agent.revision = "rev_00000000000000000000000009";
    agent.number = 9;
    agent.digest = Digest::ofBytes("agent").text();
    out.agent = agent;
    out.command.reset();
    out.session = true;
    out.files.clear();
    out.egress.declared = {{"demo", "api.example.org"}};
    out.egress.clamped = {"tier"};
    return out;
}

void compareGolden(const char* name, const std::string& text)
{
    const auto path = std::filesystem::path(ASSAY_SOURCE_DIR) / "tests/unit/runs/golden" / name;
    if (std::getenv("ASSAY_UPDATE_GOLDEN"))
        ASSAY_OK(replaceFileDurably(path, text + "\n", 0644));
    const auto golden = readFile(path, 1 << 20);
    ASSAY_OK(golden);
    QCOMPARE(QString::fromStdString(text + "\n"), QString::fromStdString(*golden));
}

} // namespace

void TestManifest::matchesTheGoldenManifest() { compareGolden("manifest.json", writeManifest(plan()).canonicalJson); }

void TestManifest::matchesTheGoldenSessionManifest()
{
    compareGolden("manifest_session.json", writeManifest(agentPlan()).canonicalJson);
}

void TestManifest::matchesTheGoldenSubagentManifest()
{
    auto out = agentPlan();
    out.subagent = "reader";
    compareGolden("manifest_subagent.json", writeManifest(out).canonicalJson);
}

void TestManifest::isCanonicalAndDigested()
{
    const auto manifest = writeManifest(plan());
    QCOMPARE(canonicalJson(parseJson(manifest.canonicalJson).value()), manifest.canonicalJson);
    QCOMPARE(manifest.digest, Digest::ofBytes(manifest.canonicalJson));
    QCOMPARE(writeManifest(plan()).canonicalJson, manifest.canonicalJson);
}

void TestManifest::holdsNoInputAndNoVariable()
{
    const auto text = writeManifest(plan()).canonicalJson;
    for (const char* hidden : {"secret input", "quiet-value", "workspace text"})
        QVERIFY2(!text.contains(hidden), hidden);
    QVERIFY(text.contains(Digest::ofBytes("{\"ticket\":\"secret input\"}\n").text()));
}

void TestManifest::changesWithEverythingThatExecutes()
{
    const auto original = writeManifest(plan()).digest;
    const std::vector<std::function<void(RunPlan&)>> changes{
        [](RunPlan& p) { p.scopeFingerprint = "sc_other"; },
        [](RunPlan& p) { p.skills[0].files[1].executable = false; },
        [](RunPlan& p) { p.skills[0].digest = Digest::ofBytes("x"); },
        [](RunPlan& p) { p.command->args = {"--slow"}; },
        [](RunPlan& p) { p.command->script = "SKILL.md"; },
        [](RunPlan& p) { p.command->stdinBytes += " "; },
        [](RunPlan& p) { p.command->env["MODE"] = "loud"; },
        [](RunPlan& p) { p.files["in/a.txt"] += " "; },
        [](RunPlan& p) { p.outputs = {"*.json"}; },
        [](RunPlan& p) { p.driver = "docker"; },
        [](RunPlan& p) { p.base.digest = "sha256:x"; },
        [](RunPlan& p) { p.storeIdentity = "filesystem"; },
        [](RunPlan& p) { p.limits.box.pids = 7; },
        [](RunPlan& p) { p.limits.command.outputMode = sandbox::OutputMode::Terminate; },
        [](RunPlan& p) { p.session = true; },
    };
    for (std::size_t i = 0; i < changes.size(); ++i) {
        auto changed = plan();
        changes[i](changed);
        QVERIFY2(writeManifest(changed).digest != original, std::to_string(i).c_str());
    }
}

void TestManifest::readsBackItsPackages()
{
    const auto skills = manifestSkills(writeManifest(plan()).canonicalJson);
    ASSAY_OK(skills);
    QCOMPARE(skills->size(), 1U);
    QCOMPARE(skills->front().name, "demo");
    QCOMPARE(skills->front().digest, demo().pinned.digest);
    QCOMPARE(skills->front().files.size(), 2U);
    QCOMPARE(skills->front().files[1].path, "scripts/run.py");
    QCOMPARE(skills->front().files[1].sha256, demo().pinned.files[1].sha256);
    QVERIFY(skills->front().files[1].executable);
}

void TestManifest::refusesAManifestOfAnotherFormat()
{
    for (const char* bad : {"", "{}", "[]", R"({"format":"assay-manifest-v9","skills":[]})",
                            R"({"format":"assay-manifest-v1","skills":[{"name":"a"}]})",
                            R"({"format":"assay-manifest-v1","skills":[{"name":"a","digest":"x","files":[]}]})"})
        ASSAY_FAILS(manifestSkills(bad), ErrorCode::Internal);
}

void TestManifest::identitiesTellScopesStoresAgentsAndOrderApart()
{
    const auto base = plan();
    auto scope = base;
    scope.scopeFingerprint += "0";
    auto store = base;
    store.storeIdentity += "0";
    auto agent = agentPlan();
    auto two = base;
    two.skills.push_back(test::PackageFixture("other", {{"SKILL.md", "x"}}).pinned);
    auto reversed = two;
    std::ranges::reverse(reversed.skills);
    std::set<Digest> all;
    for (const RunPlan* each : std::initializer_list<const RunPlan*>{&base, &scope, &store, &agent, &two, &reversed})
        all.insert(materializationIdentity(*each));
    QCOMPARE(all.size(), 6U);
    auto laterRun = base;
    laterRun.runId = "run_other";
    QCOMPARE(materializationIdentity(laterRun), materializationIdentity(base));
}

QTEST_APPLESS_MAIN(TestManifest)
#include "tst_manifest.moc"
