// SPDX-License-Identifier: Apache-2.0
#include "server/core/json.h"
#include "server/store/run_table.h"
#include "tests/integration/runs/run_world.h"
#include "tests/support/test_support.h"

#include <semaphore>
#include <set>
#include <thread>

using namespace assay;
using test::RunWorld;

class TestRunService : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase();
    void init() { m_world = std::make_unique<RunWorld>(); }
    void cleanup() { m_world.reset(); }
    void runsAScriptWithJsonInAndOut();
    void runsTheInterpretersByExtension();
    void collectsDeclaredOutputsAsArtifacts();
    void placesFilesInTheWorkspace();
    void theManifestPinsWhatRan();
    void aLaterPublishDoesNotReachARun();
    void runsAnAgentsSkills();
    void refusesAndListsRefusedRuns();
    void requestFaultsMakeNoRun();
    void checksTheInputSchema();
    void checksTheOutputSchema();
    void refusesASchemaThatIsNone();
    void aSessionKeepsItsWorkspace();
    void finishCollectsAndCloses();
    void cancelEndsARun();
    void eventsReadAlikeLiveAndStored();
    void listsLiveAndEndedRuns();
    void aRestartInterruptsWhatWasLeft();
    void worksWithPackagesInFiles();

private:
    contract::StartRun script(const std::string& skill, const std::string& path) const;
    Result<contract::Run> start(contract::StartRun request)
    {
        return m_world->runs().start(RunWorld::someone(), std::move(request));
    }
    std::unique_ptr<RunWorld> m_world;
};

namespace {

constexpr const char* kEcho =
    "import json, sys\nvalue = json.load(sys.stdin)\nprint(json.dumps({'got': value['n'] + 1}))\n";

std::string rest(runs::EventCursor& cursor, std::string_view type)
{
    std::string out;
    for (int i = 0; i < 100; ++i) {
        std::binary_semaphore ready(0);
        cursor.onReady([&] { ready.release(); });
        if (!ready.try_acquire_for(std::chrono::seconds(20)))
            return "timed out";
        const auto batch = cursor.read(50);
        for (const auto& event : batch.events)
            if (type.empty() || event.type == type)
                out += std::to_string(event.id) + event.type + event.data + "\n";
        if (batch.ended)
            return out;
    }
    return "did not end";
}

} // namespace

void TestRunService::initTestCase()
{
    RunWorld world;
    const auto why = world.unavailable();
    QVERIFY2(why.empty(), ("no boxes on this machine: " + why).c_str());
}

contract::StartRun TestRunService::script(const std::string& skill, const std::string& path) const
{
    contract::StartRun request;
    request.skills = {skill};
    request.command = contract::RunCommand{};
    request.command->skill = skill;
    request.command->script = path;
    request.waitMs = 60'000;
    return request;
}

void TestRunService::runsAScriptWithJsonInAndOut()
{
    m_world->publish("demo", {{"SKILL.md", test::skillMd("demo")}, {"scripts/echo.py", kEcho}});
    auto request = script("demo", "scripts/echo.py");
    request.command->input = json::value{{"n", 41}};
    const auto run = start(request);
    ASSAY_OK(run);
    QCOMPARE(run->state, "succeeded");
    QCOMPARE(run->commands.size(), 1U);
    QCOMPARE(run->commands[0].exitCode, 0);
    QCOMPARE(run->commands[0].stdoutBytes, "{\"got\": 42}\n");
    QCOMPARE(run->baseDigest, "host, unpinned");
    QVERIFY(run->usage && run->usage->cpuLimit == 1.0);
    const auto stored = m_world->runs().find(RunWorld::someone(), run->id);
    ASSAY_OK(stored);
    QCOMPARE(stored->state, "succeeded");
    QCOMPARE(stored->commands.at(0).stdoutBytes, "{\"got\": 42}\n");
    QCOMPARE(stored->phases.size(), 6U);
    QVERIFY(stored->endedAt.has_value());
}

void TestRunService::runsTheInterpretersByExtension()
{
    m_world->publish("demo", {{"SKILL.md", test::skillMd("demo")},
                              {"a.js", "console.log('js', process.argv[2])\n"},
                              {"b.sh", "echo sh $1\n"},
                              {"c.py", "import helper, sys\nprint('py', helper.VALUE, sys.argv[1])\n"},
                              {"helper.py", "VALUE = 7\n"},
                              {"d*", "#!/bin/sh\necho direct $1\n"}});
    for (const auto& [path, expected] : std::map<std::string, std::string>{
             {"a.js", "js x\n"}, {"b.sh", "sh x\n"}, {"c.py", "py 7 x\n"}, {"d", "direct x\n"}}) {
        auto request = script("demo", path);
        request.command->args = {"x"};
        const auto run = start(request);
        ASSAY_OK(run);
        QCOMPARE(run->commands.at(0).stdoutBytes, expected);
    }
}

void TestRunService::collectsDeclaredOutputsAsArtifacts()
{
    contract::StartRun request;
    request.outputs = {"**/*.json", "*.bin"};
    const auto run = m_world->runArgv({"sh", "-c",
                                       "mkdir out/a; printf '{}' > out/a/r.json; printf '\\0\\377' > out/x.bin; echo "
                                       "no > out/skip.txt; ln -s /etc/passwd out/l.json"},
                                      request);
    ASSAY_OK(run);
    QCOMPARE(run->state, "succeeded");
    QCOMPARE(run->artifacts.size(), 2U);
    QCOMPARE(run->artifacts[0].path, "a/r.json");
    QCOMPARE(run->artifacts[0].mediaType, "application/json");
    QCOMPARE(run->rejectedOutputs.size(), 1U);
    QCOMPARE(run->rejectedOutputs[0].reason, "not_a_regular_file");
    const auto content = m_world->runs().artifactContent(RunWorld::someone(), run->artifacts[1].id);
    ASSAY_OK(content);
    QCOMPARE(std::string(content->bytes.bytes()), std::string("\0\xff", 2));
    const auto page = m_world->runs().artifacts(RunWorld::someone(), run->id, {.size = 1, .token = {}});
    ASSAY_OK(page);
    QCOMPARE(page->items.size(), 1U);
    const auto second =
        m_world->runs().artifacts(RunWorld::someone(), run->id, {.size = 1, .token = *page->nextPageToken});
    ASSAY_OK(second);
    QCOMPARE(second->items.at(0).path, "x.bin");
    QVERIFY(!second->nextPageToken);
}

void TestRunService::placesFilesInTheWorkspace()
{
    contract::StartRun request;
    request.files = {{"in/deep/a.txt", "hello"}};
    const auto run = m_world->runArgv({"cat", "in/deep/a.txt"}, request);
    ASSAY_OK(run);
    QCOMPARE(run->commands.at(0).stdoutBytes, "hello");
}

void TestRunService::theManifestPinsWhatRan()
{
    const auto revision = m_world->publish("demo", {{"SKILL.md", test::skillMd("demo")}, {"a.sh", "true\n"}});
    const auto run = start(script("demo", "a.sh"));
    ASSAY_OK(run);
    const auto manifest = m_world->runs().manifest(RunWorld::someone(), run->id);
    ASSAY_OK(manifest);
    QCOMPARE(manifest->digest, run->manifestDigest);
    QCOMPARE(manifest->digest, Digest::ofBytes(manifest->canonicalJson).text());
    const auto parsed = parseJson(manifest->canonicalJson);
    ASSAY_OK(parsed);
    QCOMPARE(std::string(parsed->at("skills").at(0).at("revision").as_string()), revision);
    const auto files = m_world->runs().skillFiles(RunWorld::someone(), run->id, "demo");
    ASSAY_OK(files);
    QCOMPARE(files->size(), 2U);
    const auto file = m_world->runs().skillFile(RunWorld::someone(), run->id, "demo", "a.sh");
    ASSAY_OK(file);
    QCOMPARE(std::string(file->bytes), "true\n");
    ASSAY_FAILS(m_world->runs().skillFile(RunWorld::someone(), run->id, "demo", "b.sh"), ErrorCode::NotFound);
    ASSAY_FAILS(m_world->runs().skillFiles(RunWorld::someone(), run->id, "other"), ErrorCode::NotFound);
}

void TestRunService::aLaterPublishDoesNotReachARun()
{
    m_world->publish("demo", {{"SKILL.md", test::skillMd("demo")}, {"v", "1"}});
    contract::StartRun request;
    request.skills = {"demo"};
    request.session = true;
    const auto run = start(request);
    ASSAY_OK(run);
    m_world->publish("demo", {{"SKILL.md", test::skillMd("demo")}, {"v", "2"}});
    contract::StartCommand command;
    command.argv = {"cat", "/skills/demo/v"};
    command.waitMs = 30'000;
    const auto seen = m_world->runs().startCommand(RunWorld::someone(), run->id, command);
    ASSAY_OK(seen);
    QCOMPARE(seen->stdoutBytes, "1");
    QCOMPARE(std::string(m_world->runs().skillFile(RunWorld::someone(), run->id, "demo", "v")->bytes), "1");
}

void TestRunService::runsAnAgentsSkills()
{
    m_world->publish("demo", {{"SKILL.md", test::skillMd("demo")}, {"a.sh", "ls /skills\n"}});
    m_world->publish("more", {{"SKILL.md", test::skillMd("more")}});
    contract::AgentDefinition agent;
    agent.name = "helper";
    agent.skills = {"demo", "more"};
    agent.limits = contract::RunLimits{};
    agent.limits->wallMs = 30'000;
    ASSAY_OK(m_world->agents().save(RunWorld::someone(), agent, false, std::nullopt));
    auto request = script("demo", "a.sh");
    request.skills.clear();
    request.agent = "helper";
    const auto run = start(request);
    ASSAY_OK(run);
    QCOMPARE(run->agent, "helper");
    QCOMPARE(run->commands.at(0).stdoutBytes, "demo\nmore\n");
    request.agent = "nobody";
    ASSAY_FAILS(start(request), ErrorCode::NotFound);
    agent.execution = "off";
    ASSAY_OK(m_world->agents().save(RunWorld::someone(), agent, false, std::nullopt));
    request.agent = "helper";
    const auto refused = start(request);
    ASSAY_FAILS(refused, ErrorCode::Refused);
    QCOMPARE(refused.error().reason, "policy_denied");
}

void TestRunService::refusesAndListsRefusedRuns()
{
    m_world->publish("demo", {{"SKILL.md", test::skillMd("demo")}, {"a.sh", "true\n"}});
    const auto refusedWith = [&](contract::StartRun request, std::string_view reason) {
        const auto run = start(std::move(request));
        if (run || run.error().code != ErrorCode::Refused || run.error().reason != reason)
            return false;
        const auto id = run.error().problems.at(0).pointer.substr(std::string_view("/v1/runs/").size());
        const auto stored = m_world->runs().find(RunWorld::someone(), id);
        return stored && stored->state == "refused" && stored->reason == reason && !stored->message.empty();
    };
    QVERIFY(refusedWith(script("missing", "a.sh"), "skill_not_found"));
    auto request = script("demo", "a.sh");
    request.driver = "docker";
    QVERIFY(refusedWith(request, "driver_unavailable"));
    request = script("demo", "a.sh");
    request.egress = contract::Egress{.tier = "default_internet", .allowlist = {}, .maxBytes = {}};
    QVERIFY(refusedWith(request, "egress_unavailable"));
    ASSAY_OK(m_world->skills().patch(RunWorld::someone(), "demo", {.enabled = false, .visibility = {}, .labels = {}},
                                     std::nullopt));
    QVERIFY(refusedWith(script("demo", "a.sh"), "skill_disabled"));
    ASSAY_OK(m_world->skills().patch(RunWorld::someone(), "demo", {.enabled = true, .visibility = {}, .labels = {}},
                                     std::nullopt));
    ASSAY_OK(m_world->skills().withdraw(RunWorld::someone(), "demo", "current", {"bad"}));
    QVERIFY(refusedWith(script("demo", "a.sh"), "revision_withdrawn"));
    contract::RunFilter filter;
    filter.state = "refused";
    const auto listed = m_world->runs().list(RunWorld::someone(), filter, {});
    ASSAY_OK(listed);
    QCOMPARE(listed->items.size(), 5U);
    QCOMPARE(listed->items.front().reason, "revision_withdrawn");
    const auto events = m_world->runs().events(RunWorld::someone(), listed->items.front().id, 0);
    ASSAY_OK(events);
    QVERIFY(rest(**events, "end").contains("refused"));
}

void TestRunService::requestFaultsMakeNoRun()
{
    m_world->publish("demo", {{"SKILL.md", test::skillMd("demo")}});
    ASSAY_FAILS(start(script("demo", "missing.py")), ErrorCode::InvalidArgument);
    ASSAY_FAILS(start(script("demo", "SKILL.md")), ErrorCode::InvalidArgument);
    auto request = script("demo", "SKILL.md");
    request.limits = contract::RunLimits{};
    request.limits->memoryBytes = 1ULL << 40;
    ASSAY_FAILS(start(request), ErrorCode::InvalidArgument);
    QCOMPARE(m_world->runs().list(RunWorld::someone(), {}, {})->items.size(), 0U);
}

void TestRunService::checksTheInputSchema()
{
    const std::string schema = R"({"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object",
        "required":["n"],"properties":{"n":{"type":"integer","minimum":1}},"additionalProperties":false})";
    m_world->publish(
        "demo", {{"SKILL.md", test::skillMd("demo")}, {"scripts/echo.py", kEcho}, {"schemas/echo.input.json", schema}});
    auto request = script("demo", "scripts/echo.py");
    ASSAY_FAILS(start(request), ErrorCode::InvalidArgument);
    request.command->input = json::value{{"n", 0}, {"m", 1}};
    const auto bad = start(request);
    ASSAY_FAILS(bad, ErrorCode::InvalidArgument);
    std::set<std::string> pointers;
    for (const auto& problem : bad.error().problems)
        pointers.insert(problem.pointer);
    QVERIFY(pointers.contains("/command/input/n"));
    request.command->input = json::value{{"n", 1}};
    ASSAY_OK(start(request));
    request.command->input.reset();
    request.command->stdinText = "{\"n\": ";
    ASSAY_FAILS(start(request), ErrorCode::InvalidArgument);
    request.command->stdinText = "{\"n\": 5}";
    ASSAY_OK(start(request));
    QCOMPARE(m_world->runs().list(RunWorld::someone(), {}, {})->items.size(), 2U);
}

void TestRunService::checksTheOutputSchema()
{
    const std::string schema = R"({"properties":{"got":{"maximum":10}},"required":["got"]})";
    m_world->publish(
        "demo",
        {{"SKILL.md", test::skillMd("demo")}, {"assets/output-schema.json", schema}, {"scripts/echo.py", kEcho}});
    auto request = script("demo", "scripts/echo.py");
    const auto checkOf = [&](const json::value& input) {
        request.command->input = input;
        const auto run = start(request);
        return run && run->outputCheck ? run->state + " " + run->outputCheck->state : std::string("nothing");
    };
    request.waitMs = 60'000;
    QCOMPARE(checkOf(json::value{{"n", 1}}), "succeeded pass");
    QCOMPARE(checkOf(json::value{{"n", 41}}), "succeeded fail");
}

void TestRunService::refusesASchemaThatIsNone()
{
    m_world->publish("demo", {{"SKILL.md", test::skillMd("demo")},
                              {"assets/input-schema.json", R"({"type":"no-such-type"})"},
                              {"scripts/echo.py", kEcho}});
    auto request = script("demo", "scripts/echo.py");
    request.command->input = json::value(1);
    const auto refused = start(request);
    ASSAY_FAILS(refused, ErrorCode::Refused);
    QCOMPARE(refused.error().reason, "schema_unusable");
    QCOMPARE(m_world->runs().list(RunWorld::someone(), {}, {})->items.at(0).reason, "schema_unusable");
}

void TestRunService::aSessionKeepsItsWorkspace()
{
    contract::StartRun request;
    request.session = true;
    const auto run = start(request);
    ASSAY_OK(run);
    contract::StartCommand command;
    command.waitMs = 30'000;
    command.shell = "echo 5 > n; export X=1";
    ASSAY_OK(m_world->runs().startCommand(RunWorld::someone(), run->id, command));
    command.shell = "cat n; pwd";
    command.cwd = "/workspace";
    const auto second = m_world->runs().startCommand(RunWorld::someone(), run->id, command);
    ASSAY_OK(second);
    QCOMPARE(second->state, "ended");
    QCOMPARE(second->stdoutBytes, "5\n/workspace\n");
    command.shell = "exit 9";
    QCOMPARE(m_world->runs().startCommand(RunWorld::someone(), run->id, command)->exitCode, 9);
    std::this_thread::sleep_for(std::chrono::milliseconds(200)); // idle: they are stored now
    const auto stored = m_world->runs().command(RunWorld::someone(), run->id, second->id);
    ASSAY_OK(stored);
    QCOMPARE(stored->stdoutBytes, "5\n/workspace\n");
    const auto finished = m_world->runs().finish(RunWorld::someone(), run->id);
    ASSAY_OK(finished);
    QCOMPARE(finished->state, "succeeded");
    QCOMPARE(m_world->runs().find(RunWorld::someone(), run->id)->commands.size(), 3U);
    ASSAY_FAILS(m_world->runs().startCommand(RunWorld::someone(), run->id, command), ErrorCode::Conflict);
}

void TestRunService::finishCollectsAndCloses()
{
    contract::StartRun request;
    request.session = true;
    const auto run = start(request);
    ASSAY_OK(run);
    contract::StartCommand command;
    command.argv = {"cp", "/etc/passwd", "/workspace/out/p"};
    ASSAY_OK(m_world->runs().startCommand(RunWorld::someone(), run->id, command)); // does not wait
    const auto finished = m_world->runs().finish(RunWorld::someone(), run->id);
    ASSAY_OK(finished);
    QCOMPARE(finished->artifacts.size(), 1U);
    ASSAY_OK(m_world->runs().finish(RunWorld::someone(), run->id));
    const auto oneShot = m_world->runArgv({"true"});
    ASSAY_OK(oneShot);
    ASSAY_FAILS(m_world->runs().finish(RunWorld::someone(), oneShot->id), ErrorCode::Conflict);
}

void TestRunService::cancelEndsARun()
{
    contract::StartRun request;
    request.waitMs = 200;
    const auto run = m_world->runArgv({"sleep", "1000"}, request);
    ASSAY_OK(run);
    const auto cancelled = m_world->runs().cancel(RunWorld::someone(), run->id);
    ASSAY_OK(cancelled);
    QCOMPARE(cancelled->state, "cancelled");
    QCOMPARE(cancelled->commands.at(0).termination, "cancelled");
    QCOMPARE(m_world->runs().cancel(RunWorld::someone(), run->id)->state, "cancelled");
    QVERIFY(m_world->becomesIdle());
}

void TestRunService::eventsReadAlikeLiveAndStored()
{
    contract::StartRun request;
    request.waitMs = 0;
    const auto run = m_world->runArgv({"sh", "-c", "for i in 1 2 3 4 5; do echo $i; sleep 0.02; done"}, request);
    ASSAY_OK(run);
    auto live = m_world->runs().events(RunWorld::someone(), run->id, 0);
    ASSAY_OK(live);
    const auto seenLive = rest(**live, {});
    auto stored = m_world->runs().events(RunWorld::someone(), run->id, 0);
    ASSAY_OK(stored);
    QCOMPARE(seenLive, rest(**stored, {}));
    QVERIFY(seenLive.contains("NQo=")); // "5\n"
    auto resumed = m_world->runs().events(RunWorld::someone(), run->id, 3);
    ASSAY_OK(resumed);
    QVERIFY(seenLive.ends_with(rest(**resumed, {})));
}

void TestRunService::listsLiveAndEndedRuns()
{
    contract::StartRun request;
    request.waitMs = 300;
    const auto live = m_world->runArgv({"sleep", "1000"}, request);
    ASSAY_OK(live);
    ASSAY_OK(m_world->runArgv({"true"}));
    contract::RunFilter filter;
    filter.state = "running";
    auto listed = m_world->runs().list(RunWorld::someone(), filter, {});
    ASSAY_OK(listed);
    QCOMPARE(listed->items.size(), 1U);
    QCOMPARE(listed->items[0].id, live->id);
    listed = m_world->runs().list(RunWorld::someone(), {}, {});
    ASSAY_OK(listed);
    QCOMPARE(listed->items.size(), 2U);
    QCOMPARE(listed->items[0].state, "succeeded");
    QCOMPARE(listed->items[1].state, "running");
    ASSAY_OK(m_world->runs().cancel(RunWorld::someone(), live->id));
}

void TestRunService::aRestartInterruptsWhatWasLeft()
{
    const auto run = m_world->runArgv({"true"});
    ASSAY_OK(run);
    ASSAY_OK(m_world->database().write([&](store::Connection& connection) {
        return store::RunTable(connection)
            .update(RunWorld::someone().scopeFingerprint, run->id,
                    {.state = "queued",
                     .phases = {},
                     .usage = {},
                     .rejectedOutputs = {},
                     .termination = {},
                     .reason = {},
                     .message = {},
                     .endedAt = {}});
    }));
    m_world->restart();
    ASSAY_OK(m_world->runs().recover());
    const auto found = m_world->runs().find(RunWorld::someone(), run->id);
    ASSAY_OK(found);
    QCOMPARE(found->state, "failed");
    QCOMPARE(found->reason, "interrupted");
    ASSAY_OK(m_world->runs().manifest(RunWorld::someone(), run->id));
}

void TestRunService::worksWithPackagesInFiles()
{
    RunWorld files({}, "filesystem");
    files.publish("demo", {{"SKILL.md", test::skillMd("demo")}, {"a.sh", "echo ok > out/x\n"}});
    const auto run = files.runs().start(RunWorld::someone(), script("demo", "a.sh"));
    ASSAY_OK(run);
    QCOMPARE(run->artifacts.size(), 1U);
    const auto content = files.runs().artifactContent(RunWorld::someone(), run->artifacts[0].id);
    ASSAY_OK(content);
    QCOMPARE(std::string(content->bytes.bytes()), "ok\n");
}

QTEST_GUILESS_MAIN(TestRunService)
#include "tst_run_service.moc"
