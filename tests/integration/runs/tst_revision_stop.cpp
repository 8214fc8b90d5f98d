// SPDX-License-Identifier: Apache-2.0
// The emergency stop with real boxes: what runs it ends, what waits ends, and no run slips by.
#include "tests/integration/runs/run_world.h"
#include "tests/support/test_support.h"

#include <atomic>
#include <thread>

using namespace assay;
using test::RunWorld;

class TestRevisionStop : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase();
    void endsWhatRunsAndWhatWaits();
    void leavesOtherRevisionsAndScopesAlone();
    void endsSessions();
    void withoutStopRunsPinnedOnesGoOn();
    void aStoppedDigestRunsInNoScope();
    void aRunThatWasPinnedBeforeTheWithdrawalDoesNotStart();
    void noRunSlipsBy();
};

namespace {

constexpr const char* kOtherScope = "sc_00000000000000000000000000000002";

std::map<std::string, std::string> sleeper(const std::string& mark)
{
    return {{"SKILL.md", test::skillMd("demo")}, {"s.sh", "echo " + mark + "; sleep 1000\n"}};
}

contract::StartRun script(std::uint64_t waitMs = 0)
{
    contract::StartRun request;
    request.skills = {"demo"};
    request.command = contract::RunCommand{};
    request.command->skill = "demo";
    request.command->script = "s.sh";
    request.waitMs = waitMs;
    return request;
}

std::string scopeOf(const auth::Identity& by) { return by.scopeFingerprint; }

} // namespace

void TestRevisionStop::initTestCase()
{
    RunWorld world;
    const auto why = world.unavailable();
    QVERIFY2(why.empty(), ("no boxes on this machine: " + why).c_str());
}

void TestRevisionStop::endsWhatRunsAndWhatWaits()
{
    RunWorld world([](runs::RunSettings& settings) { settings.maxLiveBoxes = 2; });
    const auto me = RunWorld::someone();
    const auto revision = world.publish("demo", sleeper("a"));
    std::vector<std::string> ids;
    for (int i = 0; i < 6; ++i)
        ids.push_back(world.runs().start(me, script())->id);
    for (int i = 0; i < 1000 && world.runs().load().live < 2; ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    ASSAY_OK(world.skills().withdraw(me, "demo", revision, {.reason = "burns", .stopRuns = true}));
    QCOMPARE(world.runs().stopPinned({scopeOf(me), revision, {}}), 6U);
    for (const auto& id : ids) {
        const auto run = world.runs().find(me, id);
        QCOMPARE(run->state, "cancelled");
        QCOMPARE(run->reason, "revision_stopped");
        QVERIFY(run->message.contains("stopped"));
    }
    const auto refused = world.runs().start(me, script());
    ASSAY_FAILS(refused, ErrorCode::Refused);
    QCOMPARE(refused.error().reason, "revision_withdrawn");
    QVERIFY(world.becomesIdle());
}

void TestRevisionStop::leavesOtherRevisionsAndScopesAlone()
{
    RunWorld world;
    const auto me = RunWorld::someone();
    const auto them = RunWorld::someone(kOtherScope);
    const auto first = world.publish("demo", sleeper("a"));
    world.publish("demo", sleeper("a"), them);
    const auto old = world.runs().start(me, script());
    const auto second = world.publish("demo", sleeper("b"));
    const auto newer = world.runs().start(me, script());
    const auto theirs = world.runs().start(them, script());
    ASSAY_OK(world.skills().withdraw(me, "demo", first, {.reason = "burns", .stopRuns = true}));
    QCOMPARE(world.runs().stopPinned({scopeOf(me), first, {}}), 1U);
    QCOMPARE(world.runs().find(me, old->id)->reason, "revision_stopped");
    QVERIFY(!world.runs().find(me, newer->id)->endedAt);
    QVERIFY(!world.runs().find(them, theirs->id)->endedAt);
    QCOMPARE(world.runs().stopPinned({scopeOf(me), second, {}}), 1U);
    ASSAY_OK(world.runs().cancel(them, theirs->id));
}

void TestRevisionStop::endsSessions()
{
    RunWorld world;
    const auto me = RunWorld::someone();
    const auto revision = world.publish("demo", sleeper("a"));
    contract::StartRun session;
    session.skills = {"demo"};
    session.session = true;
    const auto run = world.runs().start(me, session);
    ASSAY_OK(run);
    ASSAY_OK(world.skills().withdraw(me, "demo", revision, {.reason = "burns", .stopRuns = true}));
    QCOMPARE(world.runs().stopPinned({scopeOf(me), revision, {}}), 1U);
    QCOMPARE(world.runs().find(me, run->id)->state, "cancelled");
    ASSAY_FAILS(world.runs().startCommand(me, run->id, {.argv = {"true"}}), ErrorCode::Conflict);
}

void TestRevisionStop::withoutStopRunsPinnedOnesGoOn()
{
    RunWorld world;
    const auto me = RunWorld::someone();
    const auto revision =
        world.publish("demo", {{"SKILL.md", test::skillMd("demo")}, {"s.sh", "sleep 0.3; echo done\n"}});
    const auto run = world.runs().start(me, script());
    ASSAY_OK(world.skills().withdraw(me, "demo", revision, {"old"}));
    for (int i = 0; i < 2000 && !world.runs().find(me, run->id)->endedAt; ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    QCOMPARE(world.runs().find(me, run->id)->state, "succeeded");
}

void TestRevisionStop::aStoppedDigestRunsInNoScope()
{
    RunWorld world;
    const auto me = RunWorld::someone();
    const auto them = RunWorld::someone(kOtherScope);
    world.publish("demo", sleeper("a"));
    world.publish("demo", sleeper("a"), them);
    const std::string digest = world.skills().find(me, "demo")->digest;
    const auto mine = world.runs().start(me, script());
    const auto theirs = world.runs().start(them, script());
    ASSAY_OK(world.desk().stops().add(me, {digest, "phones home"}));
    QCOMPARE(world.runs().stopPinned({{}, {}, digest}), 2U);
    QCOMPARE(world.runs().find(me, mine->id)->reason, "revision_stopped");
    QCOMPARE(world.runs().find(them, theirs->id)->reason, "revision_stopped");
    const auto refused = world.runs().start(them, script());
    ASSAY_FAILS(refused, ErrorCode::Refused);
    QCOMPARE(refused.error().reason, "revision_withdrawn");
    QVERIFY(refused.error().message.contains("phones home"));
    world.restart(); // a stop outlives the server
    ASSAY_FAILS(world.runs().start(me, script()), ErrorCode::Refused);
    ASSAY_OK(world.desk().stops().remove(me, digest));
    const auto again = world.runs().start(me, script());
    ASSAY_OK(again);
    ASSAY_OK(world.runs().cancel(me, again->id));
}

void TestRevisionStop::aRunThatWasPinnedBeforeTheWithdrawalDoesNotStart()
{
    RunWorld world;
    const auto me = RunWorld::someone();
    const auto revision = world.publish("demo", sleeper("a"));
    world.whenPinned = [&] {
        ASSAY_OK(world.skills().withdraw(me, "demo", revision, {.reason = "burns", .stopRuns = true}));
    };
    const auto started = world.runs().start(me, script());
    ASSAY_FAILS(started, ErrorCode::Refused);
    QCOMPARE(started.error().reason, "revision_withdrawn");
    QVERIFY(world.becomesIdle());
}

void TestRevisionStop::noRunSlipsBy()
{
    RunWorld world([](runs::RunSettings& settings) { settings.maxLiveBoxes = 3; });
    const auto me = RunWorld::someone();
    for (int round = 0; round < 8; ++round) {
        const auto revision = world.publish("demo", sleeper(std::to_string(round)));
        std::atomic<bool> over{false};
        std::vector<std::vector<std::string>> ids(3);
        std::vector<std::jthread> starters;
        for (auto& mine : ids)
            starters.emplace_back([&] {
                while (!over && mine.size() < 40)
                    if (const auto run = world.runs().start(me, script()))
                        mine.push_back(run->id);
            });
        std::this_thread::sleep_for(std::chrono::milliseconds(5 + round * 7));
        ASSAY_OK(world.skills().withdraw(me, "demo", revision, {.reason = "burns", .stopRuns = true}));
        world.runs().stopPinned({scopeOf(me), revision, {}});
        std::this_thread::sleep_for(std::chrono::milliseconds(20)); // late starters try, and are refused
        over = true;
        starters.clear();
        for (const auto& list : ids)
            for (const auto& id : list) {
                const auto run = world.runs().find(me, id);
                QCOMPARE(run->state, "cancelled");
                QCOMPARE(run->reason, "revision_stopped");
            }
    }
    QVERIFY(world.becomesIdle());
}

QTEST_GUILESS_MAIN(TestRevisionStop)
#include "tst_revision_stop.moc"
