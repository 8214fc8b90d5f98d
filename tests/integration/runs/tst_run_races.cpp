// SPDX-License-Identifier: Apache-2.0
#include "server/core/json.h"
#include "tests/integration/runs/run_world.h"
#include "tests/support/test_support.h"

#include <set>
#include <thread>

using namespace assay;
using test::RunWorld;

class TestRunRaces : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase();
    void noRunSeesALaterPublish();
    void aHundredAtOnceAllSucceed();
    void theQueueIsBoundedAndFair();
    void cancelWhileEverythingMoves();
    void stopEndsEverything();
};

namespace {

contract::StartRun readVersion()
{
    contract::StartRun request;
    request.skills = {"demo"};
    request.command = contract::RunCommand{};
    request.command->skill = "demo";
    request.command->script = "v.sh";
    request.waitMs = 60'000;
    return request;
}

std::map<std::string, std::string> version(int number)
{
    const auto text = std::to_string(number);
    return {{"SKILL.md", test::skillMd("demo")},
            {"v.sh", "cat /skills/demo/v; sleep 0.01; cat /skills/demo/w\n"},
            {"v", text + "\n"},
            {"w", text + "\n"}};
}

} // namespace

void TestRunRaces::initTestCase()
{
    RunWorld world;
    const auto why = world.unavailable();
    QVERIFY2(why.empty(), ("no boxes on this machine: " + why).c_str());
}

void TestRunRaces::noRunSeesALaterPublish()
{
    constexpr int kPublishes = 1000;
    constexpr int kRuns = 100;
    RunWorld world;
    std::mutex mutex;
    std::map<std::string, int> numbers; // revision -> what it says
    const auto publish = [&](int number) {
        const auto revision = world.publish("demo", version(number));
        const std::lock_guard lock(mutex);
        numbers[revision] = number;
    };
    publish(0);
    std::jthread publisher([&] {
        for (int i = 1; i < kPublishes; ++i)
            publish(i);
    });
    std::vector<contract::Run> ended(kRuns);
    {
        std::vector<std::jthread> runners;
        for (int t = 0; t < 4; ++t)
            runners.emplace_back([&, t] {
                for (int i = t; i < kRuns; i += 4)
                    if (auto run = world.runs().start(RunWorld::someone(), readVersion()))
                        ended[static_cast<std::size_t>(i)] = std::move(*run);
            });
    }
    publisher.join();
    std::set<std::string> distinct;
    for (const auto& run : ended) {
        QCOMPARE(run.state, "succeeded");
        const auto number = std::to_string(numbers.at(run.skills.at(0).revision));
        QCOMPARE(run.commands.at(0).stdoutBytes, number + "\n" + number + "\n");
        distinct.insert(number);
    }
    QVERIFY2(distinct.size() > 1, "publishes and runs did not overlap");
}

void TestRunRaces::aHundredAtOnceAllSucceed()
{
    RunWorld world;
    std::vector<std::string> ids;
    for (int i = 0; i < 100; ++i) {
        contract::StartRun request;
        request.waitMs = 0;
        const auto run = world.runArgv({"/bin/true"}, request);
        ASSAY_OK(run);
        ids.push_back(run->id);
    }
    for (const auto& id : ids) {
        std::string state;
        for (int i = 0; i < 6000 && state != "succeeded"; ++i) {
            state = world.runs().find(RunWorld::someone(), id)->state;
            std::this_thread::sleep_for(std::chrono::milliseconds(state == "succeeded" ? 0 : 5));
        }
        QCOMPARE(state, "succeeded");
    }
    QVERIFY(world.becomesIdle());
}

void TestRunRaces::theQueueIsBoundedAndFair()
{
    RunWorld world([](runs::RunSettings& settings) {
        settings.maxLiveBoxes = 1;
        settings.maxQueued = 6;
    });
    contract::StartRun request;
    request.waitMs = 300;
    const auto blocker = world.runArgv({"sleep", "1000"}, request);
    ASSAY_OK(blocker);
    request.waitMs = 0;
    std::vector<std::string> first;
    for (int i = 0; i < 5; ++i)
        first.push_back(world.runArgv({"/bin/true"}, request)->id);
    const auto other = RunWorld::someone("sc_00000000000000000000000000000002");
    const auto theirs = world.runArgv({"/bin/true"}, request, other);
    ASSAY_OK(theirs);
    const auto refused = world.runArgv({"/bin/true"}, request);
    ASSAY_FAILS(refused, ErrorCode::Refused);
    QCOMPARE(refused.error().reason, "queue_full");
    const auto cancelled = world.runs().cancel(RunWorld::someone(), first[1]); // a waiting one
    ASSAY_OK(cancelled);
    QCOMPARE(cancelled->state, "cancelled");
    QVERIFY(cancelled->commands.empty());
    ASSAY_OK(world.runs().cancel(RunWorld::someone(), blocker->id));
    for (int i = 0; i < 2000 && world.runs().find(other, theirs->id)->state != "succeeded"; ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    const auto done = world.runs().find(other, theirs->id);
    QCOMPARE(done->state, "succeeded");
    for (int i = 0; i < 2000 && world.runs().find(RunWorld::someone(), first[4])->state != "succeeded"; ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    const auto last = world.runs().find(RunWorld::someone(), first[4]);
    QCOMPARE(last->state, "succeeded");
    QVERIFY(*done->endedAt < *last->endedAt); // accepted later, but it was its scope's turn
}

void TestRunRaces::cancelWhileEverythingMoves()
{
    RunWorld world;
    std::vector<std::jthread> threads;
    std::atomic<int> wrong{0};
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&, t] {
            for (int i = 0; i < 10; ++i) {
                contract::StartRun request;
                request.waitMs = 0;
                const auto run = world.runArgv({"sleep", "1000"}, request);
                std::this_thread::sleep_for(std::chrono::milliseconds((t * 7 + i * 3) % 40));
                const auto ended = run ? world.runs().cancel(RunWorld::someone(), run->id) : run;
                wrong += !ended || ended->state != "cancelled";
            }
        });
    threads.clear();
    QCOMPARE(wrong.load(), 0);
    QVERIFY(world.becomesIdle());
}

void TestRunRaces::stopEndsEverything()
{
    RunWorld world([](runs::RunSettings& settings) { settings.maxLiveBoxes = 2; });
    contract::StartRun request;
    request.waitMs = 0;
    std::vector<std::string> ids;
    for (int i = 0; i < 6; ++i)
        ids.push_back(world.runArgv({"sleep", "1000"}, request)->id);
    contract::StartRun session;
    session.session = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    world.runs().stop(std::chrono::seconds(20));
    for (const auto& id : ids) {
        const auto run = world.runs().find(RunWorld::someone(), id);
        ASSAY_OK(run);
        QCOMPARE(run->state, "cancelled");
        QCOMPARE(run->reason, "server_stopping");
    }
    ASSAY_FAILS(world.runArgv({"true"}, request), ErrorCode::Unavailable);
}

QTEST_GUILESS_MAIN(TestRunRaces)
#include "tst_run_races.moc"
