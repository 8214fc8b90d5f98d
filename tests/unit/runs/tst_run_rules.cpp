// SPDX-License-Identifier: Apache-2.0
#include "server/runs/effective_limits.h"
#include "server/runs/egress_grant.h"
#include "server/runs/request_rules.h"
#include "server/runs/script_command.h"
#include "tests/support/test_support.h"

#include <limits>

using namespace assay;
using namespace assay::runs;

class TestRunRules : public QObject
{
    Q_OBJECT

private slots:
    void acceptsAPlainScriptRun();
    void refusesMembersThatExcludeEachOther();
    void refusesPathsThatLeaveTheWorkspace();
    void refusesAFileThatIsAlsoAFolder();
    void refusesWhatNoProgramCanTake();
    void refusesTooMuchOfAnything();
    void judgesSessionCommands();
    void limitsDefaultToTheServers();
    void refusesLimitsAboveTheServers();
    void refusesLimitsThatAreNoNumbers();
    void agentLimitsBoundTheRun();
    void aHigherAgentLimitIsCutToTheServers();
    void timeoutsStayBelowTheRuns();
    void grantsAboveNoneAreRefused();
    void declaredHostsAreClamped();
    void anAgentsGrantCannotBeReplaced();
    void choosesInterpreters_data();
    void choosesInterpreters();
    void refusesScriptsThatAreNotThere();
};

namespace {

contract::StartRun scriptRun()
{
    contract::StartRun run;
    run.skills = {"demo"};
    run.command = contract::RunCommand{};
    run.command->skill = "demo";
    run.command->script = "scripts/run.py";
    return run;
}

std::string pointerOf(const Result<void>& result)
{
    return result ? "" : result.error().problems.empty() ? "?" : result.error().problems.front().pointer;
}

contract::RevisionFile file(std::string path, bool executable)
{
    return {.path = std::move(path), .sha256 = Digest::ofBytes("x").text(), .sizeBytes = 1, .executable = executable};
}

} // namespace

void TestRunRules::acceptsAPlainScriptRun()
{
    ASSAY_OK(checkStartRun(scriptRun()));
    auto run = scriptRun();
    run.command->args = {"--all", ""};
    run.command->env = {{"LANG_X1", "de"}};
    run.files = {{"in/a.txt", "a"}, {"in/b.txt", "b"}, {"in-a", "c"}};
    run.outputs = {"**", "reports/*.json"};
    ASSAY_OK(checkStartRun(run));
}

void TestRunRules::refusesMembersThatExcludeEachOther()
{
    auto run = scriptRun();
    run.agent = "a";
    QCOMPARE(pointerOf(checkStartRun(run)), "/skills");
    run = scriptRun();
    run.command->argv = {"true"};
    QCOMPARE(pointerOf(checkStartRun(run)), "/command/argv");
    run = scriptRun();
    run.command->script.clear();
    QCOMPARE(pointerOf(checkStartRun(run)), "/command");
    run = scriptRun();
    run.command->input = json::value(1);
    run.command->stdinText = "1";
    QCOMPARE(pointerOf(checkStartRun(run)), "/command/stdin");
    run = scriptRun();
    run.command.reset();
    QCOMPARE(pointerOf(checkStartRun(run)), "/command");
    run.session = true;
    ASSAY_OK(checkStartRun(run));
    run.skills = {"demo", "demo"};
    QCOMPARE(pointerOf(checkStartRun(run)), "/skills/1");
}

void TestRunRules::refusesPathsThatLeaveTheWorkspace()
{
    for (const std::string bad : {"", "/etc/passwd", "../x", "a/../b", "a//b", "./a", "a/", "a\nb", "a\x7f", "\xff"}) {
        auto run = scriptRun();
        run.files = {{bad, "x"}};
        QVERIFY2(pointerOf(checkStartRun(run)).starts_with("/files/"), bad.c_str());
        run = scriptRun();
        run.outputs = {bad};
        QVERIFY2(pointerOf(checkStartRun(run)) == "/outputs/0", bad.c_str());
    }
    QVERIFY(!isSafeRelativePath(std::string(513, 'a')));
    QVERIFY(!isSafeRelativePath(std::string(256, 'a')));
    QVERIFY(isSafeRelativePath(std::string(255, 'a') + "/..a"));
}

void TestRunRules::refusesAFileThatIsAlsoAFolder()
{
    auto run = scriptRun();
    run.files = {{"a", "1"}, {"a-b", "2"}, {"a/b/c", "3"}};
    QCOMPARE(pointerOf(checkStartRun(run)), "/files/a~1b~1c");
}

void TestRunRules::refusesWhatNoProgramCanTake()
{
    auto run = scriptRun();
    run.command->args = {std::string("a\0b", 3)};
    QCOMPARE(pointerOf(checkStartRun(run)), "/command/args/0");
    for (const std::string name : {"", "1A", "A-B", "A=B", "Ä"}) {
        run = scriptRun();
        run.command->env = {{name, "x"}};
        QVERIFY2(pointerOf(checkStartRun(run)).starts_with("/command/env/"), name.c_str());
    }
    run = scriptRun();
    run.command->env = {{"A", std::string("\0", 1)}};
    QCOMPARE(pointerOf(checkStartRun(run)), "/command/env/A");
}

void TestRunRules::refusesTooMuchOfAnything()
{
    auto run = scriptRun();
    run.command->args.assign(RequestLimits::kArguments + 1, "a");
    QCOMPARE(pointerOf(checkStartRun(run)), "/command/args");
    run = scriptRun();
    run.command->args = {std::string(RequestLimits::kArgumentBytes, 'a')};
    QCOMPARE(pointerOf(checkStartRun(run)), "/command/args");
    run = scriptRun();
    run.command->stdinText = std::string(RequestLimits::kStdinBytes + 1, 'a');
    QCOMPARE(pointerOf(checkStartRun(run)), "/command/stdin");
    run = scriptRun();
    run.files = {{"big", std::string(RequestLimits::kFileBytes + 1, 'a')}};
    QCOMPARE(pointerOf(checkStartRun(run)), "/files");
    run = scriptRun();
    run.waitMs = RequestLimits::kWaitMs + 1;
    QCOMPARE(pointerOf(checkStartRun(run)), "/wait_ms");
    run = scriptRun();
    run.skills.clear();
    for (std::size_t i = 0; i <= RequestLimits::kSkills; ++i)
        run.skills.push_back(std::to_string(i));
    QCOMPARE(pointerOf(checkStartRun(run)), "/skills");
}

void TestRunRules::judgesSessionCommands()
{
    contract::StartCommand command;
    QCOMPARE(pointerOf(checkStartCommand(command)), "/argv");
    command.argv = {"ls"};
    ASSAY_OK(checkStartCommand(command));
    command.shell = "ls";
    QCOMPARE(pointerOf(checkStartCommand(command)), "/argv");
    command.shell.clear();
    for (const std::string good : {"/workspace", "/workspace/", "/workspace/a b", "/tmp", "/skills/demo"}) {
        command.cwd = good;
        QVERIFY2(checkStartCommand(command).has_value(), good.c_str());
    }
    for (const std::string bad : {"/", "/etc", "workspace", "/workspaces", "/workspace/../etc", "/tmp//a"}) {
        command.cwd = bad;
        QVERIFY2(pointerOf(checkStartCommand(command)) == "/cwd", bad.c_str());
    }
}

void TestRunRules::limitsDefaultToTheServers()
{
    LimitCeilings ceilings;
    ceilings.box.memoryBytes = 100ULL << 20;
    const auto limits = effectiveLimits({}, std::nullopt, ceilings);
    ASSAY_OK(limits);
    QCOMPARE(limits->box.memoryBytes, 100ULL << 20);
    QCOMPARE(limits->command.wall.count(), 120'000);
    contract::RunLimits asked;
    asked.wallMs = 5;
    asked.outputMode = "terminate";
    const auto lower = effectiveLimits(asked, std::nullopt, ceilings);
    ASSAY_OK(lower);
    QCOMPARE(lower->command.wall.count(), 5);
    QVERIFY(lower->command.outputMode == sandbox::OutputMode::Terminate);
}

void TestRunRules::refusesLimitsAboveTheServers()
{
    contract::RunLimits asked;
    asked.memoryBytes = 2ULL << 30;
    const auto result = effectiveLimits(asked, std::nullopt, {});
    ASSAY_FAILS(result, ErrorCode::InvalidArgument);
    QCOMPARE(result.error().problems.front().pointer, "/limits/memory_bytes");
    QVERIFY(result.error().problems.front().message.contains("1073741824"));
    asked = {};
    asked.pids = 1;
    ASSAY_FAILS(effectiveLimits(asked, std::nullopt, {}), ErrorCode::InvalidArgument);
    asked = {};
    asked.pids = (1ULL << 32) + 8;
    ASSAY_FAILS(effectiveLimits(asked, std::nullopt, {}), ErrorCode::InvalidArgument);
    asked = {};
    asked.outputMode = "drop";
    ASSAY_FAILS(effectiveLimits(asked, std::nullopt, {}), ErrorCode::InvalidArgument);
}

void TestRunRules::refusesLimitsThatAreNoNumbers()
{
    using Double = std::numeric_limits<double>;
    for (const double bad : {Double::quiet_NaN(), Double::infinity(), -Double::infinity(), -1.0, 0.0, 1.5}) {
        contract::RunLimits asked;
        asked.cpus = bad;
        ASSAY_FAILS(effectiveLimits(asked, std::nullopt, {}), ErrorCode::InvalidArgument);
    }
}

void TestRunRules::agentLimitsBoundTheRun()
{
    contract::RunLimits agent;
    agent.wallMs = 1000;
    QCOMPARE(effectiveLimits({}, agent, {})->command.wall.count(), 1000);
    contract::RunLimits asked;
    asked.wallMs = 1001;
    ASSAY_FAILS(effectiveLimits(asked, agent, {}), ErrorCode::InvalidArgument);
    asked.wallMs = 999;
    QCOMPARE(effectiveLimits(asked, agent, {})->command.wall.count(), 999);
}

void TestRunRules::aHigherAgentLimitIsCutToTheServers()
{
    contract::RunLimits agent;
    agent.memoryBytes = 64ULL << 30;
    agent.cpus = std::numeric_limits<double>::quiet_NaN();
    const auto limits = effectiveLimits({}, agent, {});
    ASSAY_OK(limits);
    QCOMPARE(limits->box.memoryBytes, 1ULL << 30);
    QCOMPARE(limits->box.cpus, 1.0);
}

void TestRunRules::timeoutsStayBelowTheRuns()
{
    using std::chrono::milliseconds;
    QCOMPARE(effectiveTimeout(std::nullopt, milliseconds(50))->count(), 50);
    QCOMPARE(effectiveTimeout(50, milliseconds(50))->count(), 50);
    ASSAY_FAILS(effectiveTimeout(51, milliseconds(50)), ErrorCode::InvalidArgument);
    ASSAY_FAILS(effectiveTimeout(0, milliseconds(50)), ErrorCode::InvalidArgument);
}

void TestRunRules::grantsAboveNoneAreRefused()
{
    for (const std::string tier : {"default_internet", "allowlist"}) {
        const auto result =
            effectiveEgress(contract::Egress{.tier = tier, .allowlist = {}, .maxBytes = {}}, std::nullopt, {});
        ASSAY_FAILS(result, ErrorCode::Refused);
        QCOMPARE(result.error().reason, "egress_unavailable");
    }
    ASSAY_FAILS(effectiveEgress(contract::Egress{.tier = "all", .allowlist = {}, .maxBytes = {}}, std::nullopt, {}),
                ErrorCode::InvalidArgument);
    ASSAY_FAILS(effectiveEgress(contract::Egress{.tier = "none", .allowlist = {"a"}, .maxBytes = {}}, std::nullopt, {}),
                ErrorCode::InvalidArgument);
}

void TestRunRules::declaredHostsAreClamped()
{
    registry::PinnedSkill skill;
    skill.name = "demo";
    QVERIFY(effectiveEgress(std::nullopt, std::nullopt, {skill})->clamped.empty());
    skill.network = "api.example.org";
    const auto result = effectiveEgress(std::nullopt, std::nullopt, {skill});
    ASSAY_OK(result);
    QCOMPARE(result->tier, "none");
    QCOMPARE(result->clamped, std::vector<std::string>{"tier"});
    QCOMPARE(result->declared.at("demo"), "api.example.org");
}

void TestRunRules::anAgentsGrantCannotBeReplaced()
{
    ASSAY_FAILS(effectiveEgress(contract::Egress{}, contract::Agent{}, {}), ErrorCode::InvalidArgument);
}

void TestRunRules::choosesInterpreters_data()
{
    QTest::addColumn<QString>("path");
    QTest::addColumn<bool>("executable");
    QTest::addColumn<QString>("head");
    QTest::addColumn<QString>("argv");
    QTest::newRow("python") << "scripts/a.py" << false << "imp" << "python3 -E -s /skills/demo/scripts/a.py x";
    QTest::newRow("executable with shebang") << "scripts/a.py" << true << "#!/u" << "/skills/demo/scripts/a.py x";
    QTest::newRow("executable without shebang")
        << "scripts/a.py" << true << "impo" << "python3 -E -s /skills/demo/scripts/a.py x";
    QTest::newRow("shebang without the bit") << "a.py" << false << "#!/u" << "python3 -E -s /skills/demo/a.py x";
    QTest::newRow("javascript") << "a.mjs" << false << "" << "node /skills/demo/a.mjs x";
    QTest::newRow("shell") << "a.sh" << false << "" << "bash /skills/demo/a.sh x";
    QTest::newRow("program") << "bin/tool" << true
                             << "\x7f"
                                "ELF"
                             << "/skills/demo/bin/tool x";
    QTest::newRow("unknown executable") << "bin/tool" << true << "????" << "/skills/demo/bin/tool x";
}

void TestRunRules::choosesInterpreters()
{
    QFETCH(QString, path);
    QFETCH(bool, executable);
    QFETCH(QString, head);
    const auto argv = scriptArgv("demo", file(path.toStdString(), executable), head.toStdString(), {"x"});
    QStringList joined;
    for (const auto& each : argv)
        joined << QString::fromStdString(each);
    QTEST(joined.join(' '), "argv");
}

void TestRunRules::refusesScriptsThatAreNotThere()
{
    const std::vector files{file("SKILL.md", false), file("a.py", false), file("bin/tool", true)};
    ASSAY_OK(findScript(files, "demo", "a.py"));
    ASSAY_OK(findScript(files, "demo", "bin/tool"));
    for (const char* bad : {"b.py", "../a.py", "/a.py", "", "SKILL.md"})
        ASSAY_FAILS(findScript(files, "demo", bad), ErrorCode::InvalidArgument);
}

QTEST_APPLESS_MAIN(TestRunRules)
#include "tst_run_rules.moc"
