// SPDX-License-Identifier: Apache-2.0
#include "server/core/json.h"
#include "server/runs/resolver.h"
#include "tests/support/test_support.h"
#include "tests/unit/runs/package_fixture.h"

#include <set>

using namespace assay;
using namespace assay::runs;

class TestResolver : public QObject
{
    Q_OBJECT

private slots:
    void init() { m_catalog = {}; }
    void pinsTheSkillsOfTheRequest();
    void pinsTheSkillsOfTheAgent();
    void aSubagentHasExactlyItsSubset();
    void aSubagentGetsNoMoreThanItsSubset();
    void passesOnWhyASkillCannotRun();
    void anUnknownAgentIsNotFound();
    void executionOffAndEnvironmentsAreRefused();
    void aRefusalKeepsWhatWasFound();
    void inputBecomesStandardInput();
    void aScriptOfAnotherSkillIsRefused();
    void asksForTheInputThatASchemaNeeds();
    void theOutputSchemaIsPinnedWithTheCommand();
    void aDeclaredSchemaThatIsMissingRefusesTheRun();
    void looksUpInTheCallersScopeOnly();

private:
    struct Catalog final : CatalogPort
    {
        Result<contract::Agent> agent(const auth::Identity& by, std::string_view name) override
        {
            scopes.insert(by.scopeFingerprint);
            if (name != helper.definition.name)
                return fail(ErrorCode::NotFound, "there is no agent of this name");
            return helper;
        }
        Result<std::vector<registry::PinnedSkill>> pin(std::string_view scope, const std::vector<std::string>& names,
                                                       const std::map<std::string, std::string>&) override
        {
            scopes.emplace(scope);
            if (refusal)
                return std::unexpected(*refusal);
            std::vector<registry::PinnedSkill> out;
            for (const auto& name : names) {
                out.push_back(package->pinned);
                out.back().name = name;
            }
            return out;
        }
        Result<store::Bundle> bundle(std::string_view scope, const Digest&) override
        {
            scopes.emplace(scope);
            return package->bundle();
        }
        std::set<std::string> scopes;
        contract::Agent helper;
        std::optional<Error> refusal;
        const test::PackageFixture* package = nullptr;
    };

    Result<void> resolve(const contract::StartRun& request)
    {
        m_catalog.package = m_package;
        m_plan = {};
        m_plan.scopeFingerprint = "sc_a";
        Resolver resolver(m_catalog, {}, [this](std::string_view schema, std::string_view instance, std::string_view) {
            m_checked.emplace_back(std::string(schema), std::string(instance));
            return Result<void>{};
        });
        return resolver.resolve({.scopeFingerprint = "sc_a", .principal = "p", .tokenId = {}, .roles = {}}, request,
                                m_plan);
    }

    Catalog m_catalog;
    RunPlan m_plan;
    std::vector<std::pair<std::string, std::string>> m_checked;
    test::PackageFixture m_plain{"demo", {{"SKILL.md", "x"}, {"run.py", "print()"}}};
    test::PackageFixture m_schema{"demo",
                                  {{"SKILL.md", "x"}, {"run.py", "print()"}, {"schemas/run.input.json", "{\"s\":1}"}}};
    const test::PackageFixture* m_package = &m_plain;
};

namespace {

contract::StartRun request()
{
    contract::StartRun out;
    out.skills = {"demo"};
    out.command = contract::RunCommand{};
    out.command->skill = "demo";
    out.command->script = "run.py";
    return out;
}

} // namespace

void TestResolver::pinsTheSkillsOfTheRequest()
{
    ASSAY_OK(resolve(request()));
    QCOMPARE(m_plan.skills.size(), 1U);
    QCOMPARE(m_plan.skills[0].digest, m_plain.pinned.digest);
    QCOMPARE(m_plan.outputs, std::vector<std::string>{"**"});
    QCOMPARE(m_plan.limits.command.wall.count(), 120'000);
    QVERIFY(!m_plan.agent);
    QVERIFY(m_checked.empty());
}

void TestResolver::pinsTheSkillsOfTheAgent()
{
    m_catalog.helper.definition.name = "helper";
    m_catalog.helper.definition.skills = {"demo", "more"};
    m_catalog.helper.definition.limits = contract::RunLimits{};
    m_catalog.helper.definition.limits->pids = 9;
    auto byAgent = request();
    byAgent.skills.clear();
    byAgent.agent = "helper";
    ASSAY_OK(resolve(byAgent));
    QCOMPARE(m_plan.skills.size(), 2U);
    QCOMPARE(m_plan.skills[1].name, "more");
    QCOMPARE(m_plan.limits.box.pids, 9U);
    QVERIFY(m_plan.agent.has_value());
}

void TestResolver::aSubagentHasExactlyItsSubset()
{
    m_catalog.helper.definition.name = "helper";
    m_catalog.helper.definition.skills = {"demo", "more", "third"};
    m_catalog.helper.definition.subagents = {{.name = "reader", .skills = {"third", "demo"}},
                                             {.name = "bare", .skills = {}}};
    auto asked = request();
    asked.skills.clear();
    asked.agent = "helper";
    asked.subagent = "reader";
    ASSAY_OK(resolve(asked));
    QCOMPARE(m_plan.subagent, "reader");
    QCOMPARE(m_plan.skills.size(), 2U);
    QCOMPARE(m_plan.skills[0].name, "third");
    QCOMPARE(m_plan.skills[1].name, "demo");
    asked.subagent = "bare";
    asked.command->skill.clear();
    asked.command->script.clear();
    asked.command->argv = {"true"};
    ASSAY_OK(resolve(asked));
    QVERIFY(m_plan.skills.empty());
}

void TestResolver::aSubagentGetsNoMoreThanItsSubset()
{
    m_catalog.helper.definition.name = "helper";
    m_catalog.helper.definition.skills = {"demo", "more"};
    m_catalog.helper.definition.subagents = {{.name = "reader", .skills = {"more"}}};
    auto asked = request(); // a script of "demo"
    asked.skills.clear();
    asked.agent = "helper";
    asked.subagent = "reader";
    const auto outside = resolve(asked);
    ASSAY_FAILS(outside, ErrorCode::Refused);
    QCOMPARE(outside.error().reason, "policy_denied");
    QCOMPARE(m_plan.subagent, "reader"); // the refused run says for whom
    asked.subagent = "reeder";
    const auto unknown = resolve(asked);
    ASSAY_FAILS(unknown, ErrorCode::Refused);
    QVERIFY(m_plan.skills.empty());
}

void TestResolver::passesOnWhyASkillCannotRun()
{
    m_catalog.refusal = refuse("skill_disabled", "demo is disabled").error();
    const auto result = resolve(request());
    ASSAY_FAILS(result, ErrorCode::Refused);
    QCOMPARE(result.error().reason, "skill_disabled");
}

void TestResolver::anUnknownAgentIsNotFound()
{
    auto byAgent = request();
    byAgent.skills.clear();
    byAgent.agent = "nobody";
    ASSAY_FAILS(resolve(byAgent), ErrorCode::NotFound);
}

void TestResolver::executionOffAndEnvironmentsAreRefused()
{
    m_catalog.helper.definition.name = "helper";
    auto byAgent = request();
    byAgent.skills.clear();
    byAgent.agent = "helper";
    m_catalog.helper.definition.execution = "off";
    QCOMPARE(resolve(byAgent).error().reason, "policy_denied");
    m_catalog.helper.definition.execution = "on";
    m_catalog.helper.definition.environment = "data";
    QCOMPARE(resolve(byAgent).error().reason, "environment_unavailable");
}

void TestResolver::aRefusalKeepsWhatWasFound()
{
    auto wide = request();
    wide.egress = contract::Egress{.tier = "default_internet", .allowlist = {}, .maxBytes = {}};
    QCOMPARE(resolve(wide).error().reason, "egress_unavailable");
    QCOMPARE(m_plan.skills.size(), 1U);
}

void TestResolver::inputBecomesStandardInput()
{
    auto with = request();
    with.command->input = json::value{{"big", 9007199254740993}, {"text", "ä"}};
    ASSAY_OK(resolve(with));
    QCOMPARE(m_plan.command->stdinBytes, "{\"big\":9007199254740993,\"text\":\"ä\"}\n");
    with = request();
    with.command->stdinText = "raw";
    ASSAY_OK(resolve(with));
    QCOMPARE(m_plan.command->stdinBytes, "raw");
}

void TestResolver::aScriptOfAnotherSkillIsRefused()
{
    auto other = request();
    other.command->skill = "other";
    const auto result = resolve(other);
    ASSAY_FAILS(result, ErrorCode::InvalidArgument);
    QCOMPARE(result.error().problems.at(0).pointer, "/command/skill");
}

void TestResolver::asksForTheInputThatASchemaNeeds()
{
    m_package = &m_schema;
    ASSAY_FAILS(resolve(request()), ErrorCode::InvalidArgument);
    auto with = request();
    with.command->stdinText = "not json";
    ASSAY_FAILS(resolve(with), ErrorCode::InvalidArgument);
    QVERIFY(m_checked.empty());
    with.command->stdinText = "[1]";
    ASSAY_OK(resolve(with));
    QCOMPARE(m_checked.at(0), (std::pair<std::string, std::string>{"{\"s\":1}", "[1]"}));
    m_package = &m_plain;
    m_checked.clear();
}

void TestResolver::theOutputSchemaIsPinnedWithTheCommand()
{
    const test::PackageFixture both{"demo",
                                    {{"SKILL.md", "x"},
                                     {"assets/input-schema.json", "{\"i\":1}"},
                                     {"assets/output-schema.json", "{\"o\":1}"},
                                     {"run.py", "print()"}}};
    m_package = &both;
    auto with = request();
    with.command->input = json::value(1);
    ASSAY_OK(resolve(with));
    QCOMPARE(m_checked.at(0).first, "{\"i\":1}");
    QCOMPARE(m_plan.command->outputSchema->path, "assets/output-schema.json");
    QCOMPARE(m_plan.command->outputSchema->text, "{\"o\":1}");
    m_package = &m_plain;
    m_checked.clear();
}

void TestResolver::aDeclaredSchemaThatIsMissingRefusesTheRun()
{
    test::PackageFixture without{"demo", {{"SKILL.md", "x"}, {"run.py", "print()"}}};
    without.pinned.outputSchema = "assets/none.json";
    m_package = &without;
    const auto result = resolve(request());
    ASSAY_FAILS(result, ErrorCode::Refused);
    QCOMPARE(result.error().reason, "schema_unusable");
    QVERIFY(result.error().message.contains("assets/none.json"));
    m_package = &m_plain;
}

void TestResolver::looksUpInTheCallersScopeOnly()
{
    m_package = &m_schema;
    auto with = request();
    with.command->input = json::value(1);
    ASSAY_OK(resolve(with));
    QCOMPARE(m_catalog.scopes, std::set<std::string>{"sc_a"});
    m_package = &m_plain;
    m_checked.clear();
}

QTEST_APPLESS_MAIN(TestResolver)
#include "tst_resolver.moc"
