// SPDX-License-Identifier: Apache-2.0
#include "tests/integration/runs/run_world.h"
#include "tests/support/test_support.h"

using namespace assay;
using test::RunWorld;

/// R13 with real boxes: a subagent has exactly its subset, and nobody gets more by asking.
class TestRunSubagents : public QObject
{
    Q_OBJECT

private slots:
    void init();
    void cleanup() { m_world.reset(); }
    void aBoxOfASubagentShowsItsSubsetOnly();
    void askingForMoreIsRefusedAndListed();
    void aCommandForAnotherSubagentIsRefused();

private:
    contract::StartRun request(const std::string& subagent, std::vector<std::string> argv)
    {
        contract::StartRun out;
        out.agent = "helper";
        out.subagent = subagent;
        out.command = contract::RunCommand{};
        out.command->argv = std::move(argv);
        out.waitMs = 30'000;
        return out;
    }
    Result<contract::Run> start(contract::StartRun request)
    {
        return m_world->runs().start(RunWorld::someone(), std::move(request));
    }
    std::unique_ptr<RunWorld> m_world;
};

void TestRunSubagents::init()
{
    m_world = std::make_unique<RunWorld>();
    if (const auto why = m_world->unavailable(); !why.empty())
        QSKIP(why.c_str());
    for (const char* name : {"first", "second", "third"})
        m_world->publish(name, {{"SKILL.md", test::skillMd(name)}, {"go.sh", "ls /skills\n"}});
    contract::AgentDefinition agent;
    agent.name = "helper";
    agent.skills = {"first", "second", "third"};
    agent.subagents = {{.name = "reader", .skills = {"third", "first"}}, {.name = "bare", .skills = {}}};
    ASSAY_OK(m_world->agents().save(RunWorld::someone(), agent, false, std::nullopt));
}

void TestRunSubagents::aBoxOfASubagentShowsItsSubsetOnly()
{
    const auto run = start(request("reader", {"ls", "/skills"}));
    ASSAY_OK(run);
    QCOMPARE(run->commands.at(0).stdoutBytes, "first\nthird\n");
    QCOMPARE(run->subagent, "reader");
    const auto stored = m_world->runs().find(RunWorld::someone(), run->id);
    ASSAY_OK(stored);
    QCOMPARE(stored->subagent, "reader");
    QCOMPARE(stored->skills.size(), 2U);
    const auto manifest = m_world->runs().manifest(RunWorld::someone(), run->id);
    ASSAY_OK(manifest);
    QVERIFY(manifest->canonicalJson.contains(R"("subagent":"reader")") && !manifest->canonicalJson.contains("second"));
    ASSAY_FAILS(m_world->runs().skillFiles(RunWorld::someone(), run->id, "second"), ErrorCode::NotFound);
    const auto bare = start(request("bare", {"ls", "/skills"}));
    ASSAY_OK(bare);
    QCOMPARE(bare->commands.at(0).stdoutBytes, "");
    const auto whole = start(request("", {"ls", "/skills"}));
    ASSAY_OK(whole);
    QCOMPARE(whole->commands.at(0).stdoutBytes, "first\nsecond\nthird\n");
}

void TestRunSubagents::askingForMoreIsRefusedAndListed()
{
    auto more = request("reader", {});
    more.command->skill = "second";
    more.command->script = "go.sh";
    for (const auto& asked : {more, request("reeder", {"true"})}) {
        const auto refused = start(asked);
        ASSAY_FAILS(refused, ErrorCode::Refused);
        QCOMPARE(refused.error().reason, "policy_denied");
        const auto id = refused.error().problems.at(0).pointer.substr(std::string("/v1/runs/").size());
        const auto listed = m_world->runs().find(RunWorld::someone(), id);
        ASSAY_OK(listed);
        QCOMPARE(listed->state, "refused");
        QCOMPARE(listed->subagent, asked.subagent);
    }
}

void TestRunSubagents::aCommandForAnotherSubagentIsRefused()
{
    auto session = request("reader", {});
    session.command.reset();
    session.session = true;
    const auto run = start(session);
    ASSAY_OK(run);
    contract::StartCommand command;
    command.argv = {"ls", "/skills"};
    command.waitMs = 30'000;
    for (const char* subagent : {"bare", "helper", "nobody"}) {
        command.subagent = subagent;
        const auto refused = m_world->runs().startCommand(RunWorld::someone(), run->id, command);
        ASSAY_FAILS(refused, ErrorCode::Refused);
        QCOMPARE(refused.error().reason, "policy_denied");
    }
    command.subagent = "reader";
    const auto seen = m_world->runs().startCommand(RunWorld::someone(), run->id, command);
    ASSAY_OK(seen);
    QCOMPARE(seen->stdoutBytes, "first\nthird\n");
    const auto ended = m_world->runs().finish(RunWorld::someone(), run->id);
    ASSAY_OK(ended);
    QCOMPARE(ended->commands.size(), 1U); // the refused ones left nothing
}

QTEST_GUILESS_MAIN(TestRunSubagents)
#include "tst_run_subagents.moc"
