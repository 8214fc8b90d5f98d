// SPDX-License-Identifier: Apache-2.0
#include "server/registry/agent_form.h"
#include "server/registry/agent_service.h"
#include "server/registry/skill_service.h"
#include "server/store/package_store_factory.h"
#include "tests/support/skill_sources.h"

#include <limits>

using namespace assay;
using namespace assay::registry;
using contract::AgentDefinition;
using test::kScopeA;
using test::kScopeB;

class TestAgentService : public QObject
{
    Q_OBJECT

private slots:
    void init();
    void cleanup();
    void savesAndReads();
    void equalDefinitionsMakeNoRevision();
    void refusesSkillsThatTheScopeDoesNotHave();
    void refusesDefinitionsOutsideTheRules();
    void createOnlyAndIfMatchGuard();
    void deletedNameContinuesItsHistory();
    void otherScopesLookMissing();
    void listsInPages();
    void warnsOfScriptsWhereExecutionIsOff();
    void aDamagedDefinitionDoesNotBreakAListing();
    void definitionsSurviveTheirStoredForm();

private:
    Result<AgentService::Saved> save(AgentDefinition definition)
    {
        return m_agents->save(m_a, std::move(definition), false, {});
    }

    const auth::Identity m_a = test::builderOf(kScopeA);
    const auth::Identity m_b = test::builderOf(kScopeB);
    test::FakeClock m_clock;
    std::unique_ptr<test::StoreFixture> m_store;
    store::Database* m_database = nullptr;
    std::unique_ptr<store::SkillPackageStore> m_packages;
    std::unique_ptr<SkillService> m_skills;
    std::unique_ptr<AgentService> m_agents;
};

void TestAgentService::init()
{
    m_store = std::make_unique<test::StoreFixture>();
    m_database = &m_store->open();
    m_packages = store::makePackageStore({}, *m_database).value();
    m_skills = std::make_unique<SkillService>(*m_database, *m_packages, m_clock, PackageLimits{});
    m_agents = std::make_unique<AgentService>(*m_database, m_clock);
    for (const char* name : {"one", "two"})
        ASSAY_OK(m_skills->publish(m_a, name, test::makeSkill(name), {}));
}

void TestAgentService::cleanup()
{
    m_agents.reset();
    m_skills.reset();
    m_packages.reset();
    m_store.reset();
}

void TestAgentService::savesAndReads()
{
    const auto saved = save({.name = "helper", .skills = {"two", "one"}, .subagents = {{"sub", {"one"}}}});
    ASSAY_OK(saved);
    QVERIFY(saved->created);
    const auto found = m_agents->find(m_a, "helper");
    ASSAY_OK(found);
    QCOMPARE(found->definition.skills, (std::vector<std::string>{"two", "one"}));
    QCOMPARE(found->definition.subagents.at(0).skills.at(0), "one");
    QCOMPARE(found->number, 1);
    QCOMPARE(found->digest, Digest::ofBytes(writeDefinition(found->definition)).text());
    QCOMPARE(found->etag, saved->agent.etag);
}

void TestAgentService::equalDefinitionsMakeNoRevision()
{
    const auto first = save({.name = "helper", .skills = {"one"}});
    const auto again = save({.name = "helper", .skills = {"one"}});
    ASSAY_OK(again);
    QVERIFY(!again->created);
    QCOMPARE(again->agent.etag, first->agent.etag);
    QCOMPARE(save({.name = "helper", .skills = {"two"}})->agent.number, 2);
    const auto history = m_agents->revisions(m_a, "helper", {.size = 1});
    ASSAY_OK(history);
    QCOMPARE(history->items.at(0).definition.skills.at(0), "two");
    const auto older = m_agents->revisions(m_a, "helper", {.size = 1, .token = *history->nextPageToken});
    QCOMPARE(older->items.at(0).revision, first->agent.revision);
    QVERIFY(!older->nextPageToken);
}

void TestAgentService::refusesSkillsThatTheScopeDoesNotHave()
{
    const auto missing = save({.name = "helper", .skills = {"one", "three"}});
    ASSAY_FAILS(missing, ErrorCode::InvalidArgument);
    QCOMPARE(missing.error().problems.at(0).pointer, "/skills/1");
    ASSAY_FAILS(m_agents->save(m_b, {.name = "helper", .skills = {"one"}}, false, {}), ErrorCode::InvalidArgument);
    ASSAY_OK(m_skills->remove(m_a, "one", {}));
    ASSAY_FAILS(save({.name = "helper", .skills = {"one"}}), ErrorCode::InvalidArgument);
    ASSAY_FAILS(m_agents->find(m_a, "helper"), ErrorCode::NotFound);
}

void TestAgentService::refusesDefinitionsOutsideTheRules()
{
    const auto pointerOf = [&](AgentDefinition definition) -> std::string {
        const auto saved = save(std::move(definition));
        return saved || saved.error().problems.empty() ? "accepted" : saved.error().problems[0].pointer;
    };
    QCOMPARE(pointerOf({.name = "Helper"}), "/name");
    QCOMPARE(pointerOf({.name = "a--b"}), "/name");
    QCOMPARE(pointerOf({.name = "a", .skills = {"one", "one"}}), "/skills/1");
    QCOMPARE(pointerOf({.name = "a", .skills = std::vector<std::string>(65, "one")}), "/skills");
    QCOMPARE(pointerOf({.name = "a", .skills = {"one"}, .subagents = {{"s", {"two"}}}}), "/subagents/0/skills/0");
    QCOMPARE(pointerOf({.name = "a", .subagents = {{"s", {}}, {"s", {}}}}), "/subagents/1/name");
    QCOMPARE(pointerOf({.name = "a", .execution = "maybe"}), "/execution");
    QCOMPARE(pointerOf({.name = "a", .egress = {.tier = "all"}}), "/egress/tier");
    QCOMPARE(pointerOf({.name = "a", .egress = {.tier = "none", .allowlist = {"x.org"}}}), "/egress/allowlist");
    QCOMPARE(pointerOf({.name = "a", .limits = contract::RunLimits{.cpus = std::numeric_limits<double>::quiet_NaN()}}),
             "/limits/cpus");
    QCOMPARE(pointerOf({.name = "a", .limits = contract::RunLimits{.cpus = -1}}), "/limits/cpus");
    QCOMPARE(pointerOf({.name = "a", .limits = contract::RunLimits{.pids = 0}}), "/limits/pids");
    QCOMPARE(pointerOf({.name = "a", .limits = contract::RunLimits{.outputMode = "x"}}), "/limits/output_mode");
    QVERIFY(m_agents->list(m_a, {})->items.empty());
}

void TestAgentService::createOnlyAndIfMatchGuard()
{
    const auto first = m_agents->save(m_a, {.name = "helper"}, true, {});
    ASSAY_OK(first);
    ASSAY_FAILS(m_agents->save(m_a, {.name = "helper"}, true, {}), ErrorCode::Conflict);
    ASSAY_OK(m_agents->save(m_a, {.name = "helper", .skills = {"one"}}, false, first->agent.etag));
    ASSAY_FAILS(m_agents->save(m_a, {.name = "helper"}, false, first->agent.etag), ErrorCode::PreconditionFailed);
    ASSAY_FAILS(m_agents->save(m_a, {.name = "new"}, false, "*"), ErrorCode::PreconditionFailed);
    ASSAY_FAILS(m_agents->remove(m_a, "helper", first->agent.etag), ErrorCode::PreconditionFailed);
    ASSAY_OK(m_agents->remove(m_a, "helper", "*"));
}

void TestAgentService::deletedNameContinuesItsHistory()
{
    const auto first = save({.name = "helper"});
    ASSAY_OK(m_agents->remove(m_a, "helper", {}));
    ASSAY_FAILS(m_agents->find(m_a, "helper"), ErrorCode::NotFound);
    ASSAY_FAILS(m_agents->remove(m_a, "helper", {}), ErrorCode::NotFound);
    ASSAY_FAILS(m_agents->revisions(m_a, "helper", {}), ErrorCode::NotFound);
    QVERIFY(m_agents->list(m_a, {})->items.empty());
    const auto second = m_agents->save(m_a, {.name = "helper"}, true, {});
    ASSAY_OK(second);
    QVERIFY(second->created);
    QCOMPARE(second->agent.number, 2);
    QVERIFY(second->agent.etag != first->agent.etag);
}

void TestAgentService::otherScopesLookMissing()
{
    ASSAY_OK(save({.name = "helper"}));
    const auto theirs = m_agents->find(m_b, "helper");
    ASSAY_FAILS(theirs, ErrorCode::NotFound);
    QCOMPARE(theirs.error().message, m_agents->find(m_b, "none").error().message);
    ASSAY_FAILS(m_agents->remove(m_b, "helper", {}), ErrorCode::NotFound);
    ASSAY_FAILS(m_agents->revisions(m_b, "helper", {}), ErrorCode::NotFound);
    QVERIFY(m_agents->list(m_b, {})->items.empty());
}

void TestAgentService::listsInPages()
{
    for (int i = 0; i < 5; ++i)
        ASSAY_OK(save({.name = "agent-" + std::to_string(i)}));
    const auto page = m_agents->list(m_a, {.size = 3});
    QCOMPARE(page->items.size(), 3);
    const auto rest = m_agents->list(m_a, {.size = 3, .token = *page->nextPageToken});
    QCOMPARE(rest->items.size(), 2);
    QVERIFY(!rest->nextPageToken);
    ASSAY_FAILS(m_agents->list(m_b, {.token = *page->nextPageToken}), ErrorCode::InvalidArgument);
}

void TestAgentService::warnsOfScriptsWhereExecutionIsOff()
{
    ASSAY_OK(m_skills->publish(
        m_a, "runs",
        test::makeSource({{"SKILL.md", "---\nname: runs\ndescription: D\n---\n"}, {"scripts/a.py", "print(1)\n"}}),
        {}));
    QVERIFY(save({.name = "helper", .skills = {"one", "runs"}})->agent.warnings.empty());
    const auto off = save({.name = "helper", .skills = {"one", "runs"}, .execution = "off"});
    ASSAY_OK(off);
    QCOMPARE(off->agent.warnings.at(0).pointer, "/skills/1");
    QCOMPARE(m_agents->find(m_a, "helper")->warnings.size(), 1);
}

void TestAgentService::aDamagedDefinitionDoesNotBreakAListing()
{
    ASSAY_OK(save({.name = "aa"}));
    ASSAY_OK(save({.name = "bb"}));
    ASSAY_OK(m_database->write([](store::Connection& connection) {
        return connection.execute("UPDATE agent_revisions SET definition = '{}' WHERE agent = 'aa'");
    }));
    const auto page = m_agents->list(m_a, {});
    ASSAY_OK(page);
    QCOMPARE(page->items.size(), 2);
    QCOMPARE(page->items[0].warnings.at(0).code, "stored_row_damaged");
    ASSAY_FAILS(m_agents->find(m_a, "aa"), ErrorCode::Internal);
    ASSAY_OK(m_agents->find(m_a, "bb"));
}

void TestAgentService::definitionsSurviveTheirStoredForm()
{
    AgentDefinition full{
        .name = "helper", .skills = {"one"}, .subagents = {{"s", {"one"}}}, .environment = "data", .execution = "on"};
    full.egress = {.tier = "allowlist", .allowlist = {"*.example.org:8443"}, .maxBytes = 1ULL << 40};
    full.limits = contract::RunLimits{1.5, 1ULL << 30, 64, 1000, 1 << 20, "terminate", 1 << 25};
    const std::string form = writeDefinition(full);
    const auto back = readDefinition(form);
    ASSAY_OK(back);
    QCOMPARE(writeDefinition(*back), form);
    QCOMPARE(form, R"({"egress":{"allowlist":["*.example.org:8443"],"max_bytes":1099511627776,"tier":"allowlist"},)"
                   R"("environment":"data","execution":"on","limits":{"cpus":1.5,"memory_bytes":1073741824,)"
                   R"("output_bytes":1048576,"output_mode":"terminate","pids":64,"wall_ms":1000,)"
                   R"("workspace_bytes":33554432},"name":"helper","skills":["one"],)"
                   R"("subagents":[{"name":"s","skills":["one"]}]})");
    for (const char* bad : {"", "[]", "{}", R"({"name":1})"})
        ASSAY_FAILS(readDefinition(bad), ErrorCode::Internal);
}

QTEST_GUILESS_MAIN(TestAgentService)
#include "tst_agent_service.moc"
