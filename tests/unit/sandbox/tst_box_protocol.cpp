// SPDX-License-Identifier: Apache-2.0
// A box whose init lies: nothing it says may be believed, invented or waited for without end.
#include "server/sandbox/box.h"
#include "tests/support/live_init.h"
#include "tests/support/test_support.h"
#include "tests/unit/sandbox/scripted_init.h"

#include <random>

using namespace assay;
using namespace assay::test;
using namespace assay::sandbox;
using channel::FrameType;

class TestBoxProtocol : public QObject
{
    Q_OBJECT

private slots:
    void opensAfterAProperGreeting();
    void refusesAnotherVersionOrAWeakInit();
    void refusesADeadInit();
    void believesACompleteEnd();
    void losesABoxThatContradictsItself_data();
    void losesABoxThatContradictsItself();
    void keepsWhatCameBeforeTheBoxWasLost();
    void losesABoxThatDoesNotObeyAKill();
    void refusesMalformedListings();
    void refusesAMalformedMeasure();
    void survivesNoise();
};

namespace {

constexpr std::uint16_t kGoodFlags = 7;

std::string hello(std::uint16_t version = channel::kProtocolVersion, std::uint16_t flags = kGoodFlags)
{
    return frameBytes(FrameType::Hello, 0, numbers(channel::kMagic, version, flags, std::uint32_t{1 << 18}));
}

std::string greeting() { return hello() + frameBytes(FrameType::Ready, 0); }

std::string output(FrameType type, std::uint64_t sequence, std::string_view bytes, std::uint32_t stream = 1)
{
    return frameBytes(type, stream, numbers(sequence, std::uint64_t{1000}) + std::string(bytes));
}

std::string end(std::uint32_t status, std::uint64_t chunks, std::uint64_t out, std::uint64_t err,
                std::uint8_t flags = 0)
{
    const std::uint64_t n = 5'000;
    return frameBytes(FrameType::Exit, 1, numbers(status, flags, n, n, n, n, chunks, out, err));
}

std::unique_ptr<Box> opened(const std::string& script)
{
    auto box = Box::open(std::make_unique<ScriptedInit>(greeting() + script), {});
    return box ? *std::move(box) : nullptr;
}

} // namespace

void TestBoxProtocol::opensAfterAProperGreeting()
{
    const auto box = Box::open(std::make_unique<ScriptedInit>(greeting()), {});
    ASSAY_OK(box);
}

void TestBoxProtocol::refusesAnotherVersionOrAWeakInit()
{
    const std::string ready = frameBytes(FrameType::Ready, 0);
    for (const std::string& bad :
         {hello(2) + ready, hello(1, 6) + ready, hello(1, 5) + ready, hello(1, 3) + ready, ready,
          hello() + frameBytes(FrameType::Failed, 0, numbers(std::uint32_t{2}, std::uint32_t{0})),
          hello() + frameBytes(FrameType::Done, 0), frameBytes(FrameType::Hello, 0, "ASSAYBOX"),
          frameBytes(FrameType::Hello, 0, std::string(16, 'x')) + ready}) {
        const auto box = Box::open(std::make_unique<ScriptedInit>(bad), {});
        ASSAY_FAILS(box, ErrorCode::Unavailable);
    }
}

void TestBoxProtocol::refusesADeadInit()
{
    auto dead = std::make_unique<ScriptedInit>("");
    dead->peer.reset();
    const auto box = Box::open(std::move(dead), {});
    ASSAY_FAILS(box, ErrorCode::Unavailable);
}

void TestBoxProtocol::believesACompleteEnd()
{
    auto box = opened(output(FrameType::Stdout, 0, "ab") + output(FrameType::Stderr, 1, "c") + end(3 << 8, 2, 2, 1));
    QVERIFY(box);
    RecordingSink sink;
    const auto result = box->run(shell(""), sink, {});
    ASSAY_OK(result);
    QCOMPARE(result->termination, Termination::Exited);
    QCOMPARE(result->exitCode, 3);
    QCOMPARE(result->out.head + result->out.tail, "ab");
    QCOMPARE(result->err.totalBytes, 1U);
    QCOMPARE(result->wall.count(), 5);
    QCOMPARE(result->cpu.count(), 10);
}

void TestBoxProtocol::losesABoxThatContradictsItself_data()
{
    QTest::addColumn<QByteArray>("script");
    const auto row = [](const char* name, const std::string& script) {
        QTest::newRow(name) << QByteArray::fromStdString(script);
    };
    row("output is missing at the end", output(FrameType::Stdout, 0, "ab") + end(0, 1, 3, 0));
    row("a chunk is missing", output(FrameType::Stdout, 1, "ab") + end(0, 2, 2, 0));
    row("a chunk comes twice", output(FrameType::Stdout, 0, "a") + output(FrameType::Stdout, 0, "a") + end(0, 2, 2, 0));
    row("an empty chunk", output(FrameType::Stdout, 0, "") + end(0, 1, 0, 0));
    row("a chunk without its prefix", frameBytes(FrameType::Stdout, 1, "short") + end(0, 0, 0, 0));
    row("a frame of another stream", output(FrameType::Stdout, 0, "ab", 2) + end(0, 1, 2, 0));
    row("a stopped process as an end", end(0x137f, 0, 0, 0));
    row("a kill nobody asked for", end(9, 0, 0, 0, channel::kKilledByServer));
    row("a short end", frameBytes(FrameType::Exit, 1, numbers(std::uint32_t{0})));
    row("a long end", frameBytes(FrameType::Exit, 1, std::string(62, '\0')));
    row("a frame out of turn", frameBytes(FrameType::Usage, 1, std::string(32, '\0')) + end(0, 0, 0, 0));
    row("credit for an output",
        frameBytes(FrameType::Credit, 1, numbers(std::uint8_t{1}, std::uint32_t{5})) + end(0, 0, 0, 0));
    row("credit without bound",
        frameBytes(FrameType::Credit, 1, numbers(std::uint8_t{0}, std::uint32_t{0xffff'ffff})) + end(0, 0, 0, 0));
    row("the end of the channel", "");
}

void TestBoxProtocol::losesABoxThatContradictsItself()
{
    QFETCH(QByteArray, script);
    auto init = std::make_unique<ScriptedInit>(greeting() + script.toStdString());
    init->peer.reset();
    auto box = Box::open(std::move(init), {});
    ASSAY_OK(box);
    RecordingSink sink;
    Command command = shell("");
    const auto result = (*box)->run(command, sink, {});
    ASSAY_OK(result);
    QCOMPARE(result->termination, Termination::BoxLost);
    QVERIFY(!result->exitCode && !result->signal);
    ASSAY_FAILS((*box)->run(command, sink, {}), ErrorCode::Unavailable);
    ASSAY_FAILS((*box)->measureWorkspace(), ErrorCode::Unavailable);
}

void TestBoxProtocol::keepsWhatCameBeforeTheBoxWasLost()
{
    auto init = std::make_unique<ScriptedInit>(greeting() + output(FrameType::Stdout, 0, "before"));
    init->peer.reset();
    auto box = Box::open(std::move(init), {});
    ASSAY_OK(box);
    RecordingSink sink;
    const auto result = (*box)->run(shell(""), sink, {});
    ASSAY_OK(result);
    QCOMPARE(result->termination, Termination::BoxLost);
    QCOMPARE(sink.out, "before");
    QCOMPARE(result->out.totalBytes, 6U);
}

void TestBoxProtocol::losesABoxThatDoesNotObeyAKill()
{
    auto init = std::make_unique<ScriptedInit>(greeting());
    const ScriptedInit& seen = *init;
    auto box = Box::open(std::move(init), {});
    ASSAY_OK(box);
    RecordingSink sink;
    Command command = shell("");
    command.limits.wall = std::chrono::milliseconds(20);
    const auto result = (*box)->run(command, sink, {});
    ASSAY_OK(result);
    QCOMPARE(result->termination, Termination::Timeout);
    QVERIFY(!result->exitCode && !result->signal);
    QVERIFY(seen.killed);
    ASSAY_FAILS((*box)->run(command, sink, {}), ErrorCode::Unavailable);
}

void TestBoxProtocol::refusesMalformedListings()
{
    const std::string entry = numbers(std::uint8_t{1}, std::uint32_t{0644}, std::uint64_t{1}, std::uint32_t{0});
    for (const std::string& bad :
         {frameBytes(FrameType::Entry, 1, "x"), frameBytes(FrameType::Entry, 1, entry + numbers(std::uint32_t{0})),
          frameBytes(FrameType::Entry, 1, entry + numbers(std::uint32_t{9}) + "a"),
          frameBytes(FrameType::WalkEnd, 1, numbers(std::uint8_t{0}, std::uint32_t{1})), frameBytes(FrameType::Done, 1),
          frameBytes(FrameType::WalkEnd, 2, numbers(std::uint8_t{0}, std::uint32_t{0}))}) {
        auto box = opened(bad);
        QVERIFY(box);
        const auto refused = box->collect({"**"}, {}, [](CollectedFile) { return Result<void>{}; });
        ASSAY_FAILS(refused, ErrorCode::Unavailable);
    }
}

void TestBoxProtocol::refusesAMalformedMeasure()
{
    for (const std::string& bad :
         {frameBytes(FrameType::Usage, 1, std::string(31, '\0')), frameBytes(FrameType::Done, 1)}) {
        auto box = opened(bad);
        QVERIFY(box);
        const auto usage = box->measureWorkspace();
        ASSAY_FAILS(usage, ErrorCode::Unavailable);
    }
}

void TestBoxProtocol::survivesNoise()
{
    std::mt19937 random(4711);
    for (int round = 0; round < 1500; ++round) {
        std::string noise;
        for (int frames = 0; frames < 6; ++frames) {
            std::string payload = numbers(std::uint64_t(random() % 4), std::uint64_t(random() % 4));
            payload.resize(random() % 80, static_cast<char>(random() % 3));
            noise +=
                frameBytes(static_cast<std::uint8_t>(random() % 14), static_cast<std::uint32_t>(random() % 3), payload);
        }
        auto init = std::make_unique<ScriptedInit>(greeting() + noise);
        init->peer.reset();
        auto box = Box::open(std::move(init), {});
        ASSAY_OK(box);
        RecordingSink sink;
        switch (random() % 4) {
        case 0:
            (void)(*box)->run(shell(""), sink, {});
            break;
        case 1:
            (void)(*box)->collect({"**"}, {}, [](CollectedFile) { return Result<void>{}; });
            break;
        case 2:
            (void)(*box)->putFile("a", "bytes", false);
            break;
        default:
            (void)(*box)->verifyPackages();
        }
        QVERIFY(sink.out.size() + sink.err.size() <= noise.size());
    }
}

QTEST_GUILESS_MAIN(TestBoxProtocol)
#include "tst_box_protocol.moc"
