// SPDX-License-Identifier: Apache-2.0
#include "server/sandbox/channel/client.h"
#include "tests/support/test_support.h"
#include "tests/unit/sandbox/scripted_init.h"

#include <QElapsedTimer>

#include <random>
#include <sys/eventfd.h>

using namespace assay;
using namespace assay::test;
using sandbox::channel::Client;
using sandbox::channel::FrameType;
namespace channel = sandbox::channel;

class TestChannelClient : public QObject
{
    Q_OBJECT

private slots:
    void readsFramesHoweverTheyAreCut();
    void waitsUntilTheDeadline();
    void wakesUp();
    void tellsTheEnd();
    void refusesOversizeAndUnknownFrames();
    void refusesFramesThatOnlyTheServerSends();
    void boundsWhatItQueues();
    void flushGivesUpAtTheDeadline();
    void survivesNoise();
    void payloadsRoundTrip();
};

namespace {

auto in(int ms) { return std::chrono::steady_clock::now() + std::chrono::milliseconds(ms); }

} // namespace

void TestChannelClient::readsFramesHoweverTheyAreCut()
{
    const std::string large(channel::kMaxPayload, 'x');
    const std::string all = frameBytes(FrameType::Done, 7) + frameBytes(FrameType::FileBytes, 8, large);
    ScriptedInit box({});
    Client client(box.channel());
    const auto first = all.substr(0, 5);
    box.say(first);
    QVERIFY(!client.next(in(1)).value().has_value());
    box.say(std::string_view(all).substr(5, 20));
    const auto done = client.next(in(1000));
    ASSAY_OK(done);
    QCOMPARE((*done)->type, FrameType::Done);
    QCOMPARE((*done)->stream, 7U);
    box.say(std::string_view(all).substr(25));
    const auto bytes = client.next(in(1000));
    ASSAY_OK(bytes);
    QCOMPARE((*bytes)->payload, large);
}

void TestChannelClient::waitsUntilTheDeadline()
{
    ScriptedInit box({});
    Client client(box.channel());
    QElapsedTimer timer;
    timer.start();
    QVERIFY(!client.next(in(50)).value().has_value());
    QVERIFY(timer.elapsed() >= 49 && timer.elapsed() < 2000);
    QVERIFY(!client.isBroken());
}

void TestChannelClient::wakesUp()
{
    ScriptedInit box({});
    Client client(box.channel());
    const UniqueFd wake(::eventfd(1, EFD_CLOEXEC));
    QElapsedTimer timer;
    timer.start();
    QVERIFY(!client.next(in(10'000), wake.get()).value().has_value());
    QVERIFY(timer.elapsed() < 5000);
}

void TestChannelClient::tellsTheEnd()
{
    ScriptedInit box(frameBytes(FrameType::Done, 1));
    Client client(box.channel());
    box.peer.reset();
    ASSAY_OK(client.send(FrameType::Measure, 2, {}));
    QCOMPARE((*client.next(in(1000))).value().type, FrameType::Done);
    ASSAY_FAILS(client.next(in(1000)), ErrorCode::Unavailable);
    ASSAY_FAILS(client.send(FrameType::Measure, 3, {}), ErrorCode::Unavailable);
    ASSAY_FAILS(client.next(in(1000)), ErrorCode::Unavailable);
}

void TestChannelClient::refusesOversizeAndUnknownFrames()
{
    for (const std::string& bad :
         {frameBytes(8, 1, "x", channel::kMaxPayload + 1), frameBytes(8, 1, "x", 0xffff'ffff), frameBytes(0, 1, {}),
          frameBytes(14, 1, {}), frameBytes(33, 1, {}), frameBytes(255, 1, {})}) {
        ScriptedInit box(bad);
        Client client(box.channel());
        ASSAY_FAILS(client.next(in(1000)), ErrorCode::Unavailable);
        QVERIFY(client.isBroken());
    }
}

void TestChannelClient::refusesFramesThatOnlyTheServerSends()
{
    for (std::uint8_t type = 64; type <= 75; ++type) {
        ScriptedInit box(frameBytes(type, 1, {}));
        Client client(box.channel());
        ASSAY_FAILS(client.next(in(1000)), ErrorCode::Unavailable);
    }
}

void TestChannelClient::boundsWhatItQueues()
{
    ScriptedInit box({});
    Client client(box.channel());
    ASSAY_FAILS(client.send(FrameType::Stdin, 1, std::string(channel::kMaxPayload + 1, 'x')), ErrorCode::Internal);
    const std::string piece(channel::kMaxPayload, 'x');
    int taken = 0;
    while (taken < 1000 && client.send(FrameType::Stdin, 1, piece))
        ++taken;
    QVERIFY2(taken >= 60 && taken <= 64, qPrintable(QString::number(taken)));
}

void TestChannelClient::flushGivesUpAtTheDeadline()
{
    ScriptedInit box({});
    Client client(box.channel());
    for (int i = 0; i < 60; ++i)
        QVERIFY(client.send(FrameType::Stdin, 1, std::string(channel::kMaxPayload, 'x')).has_value());
    const auto flushed = client.flush(in(50));
    ASSAY_FAILS(flushed, ErrorCode::Timeout);
    QVERIFY(client.isBroken());
}

void TestChannelClient::survivesNoise()
{
    std::mt19937 random(20261130);
    for (int round = 0; round < 3000; ++round) {
        std::string noise;
        for (std::size_t frames = 1 + random() % 8; frames > 0; --frames) {
            std::string payload(random() % 100, '\0');
            for (char& byte : payload)
                byte = static_cast<char>(random());
            noise +=
                frameBytes(static_cast<std::uint8_t>(random() % 14), static_cast<std::uint32_t>(random()), payload);
        }
        for (std::size_t flips = random() % 4; flips > 0; --flips)
            noise[random() % noise.size()] = static_cast<char>(random());
        ScriptedInit box(noise);
        box.peer.reset();
        Client client(box.channel());
        std::size_t seen = 0;
        while (auto frame = client.next(in(1000))) {
            QVERIFY(frame->has_value());
            seen += (*frame)->payload.size() + channel::kHeaderBytes;
        }
        QVERIFY(seen <= noise.size());
        QVERIFY(client.isBroken());
    }
}

void TestChannelClient::payloadsRoundTrip()
{
    std::array<char, 32> buffer;
    channel::PayloadWriter writer(buffer);
    writer.number(std::uint8_t{200}).number(std::uint16_t{0xfffe}).number(std::uint64_t{1} << 63).text("abc");
    QVERIFY(writer.ok());
    channel::PayloadReader reader(writer.view());
    QCOMPARE(reader.number<std::uint8_t>(), 200);
    QCOMPARE(reader.number<std::uint16_t>(), 0xfffe);
    QCOMPARE(reader.number<std::uint64_t>(), std::uint64_t{1} << 63);
    QVERIFY(!reader.finished());
    QCOMPARE(reader.text(), "abc");
    QVERIFY(reader.finished());
    QCOMPARE(reader.number<std::uint32_t>(), 0U);
    QVERIFY(!reader.ok());
    writer.text("this no longer fits");
    QVERIFY(!writer.ok());
    channel::PayloadReader lying(std::string_view("\xff\xff\xff\xff"
                                                  "a",
                                                  5));
    QCOMPARE(lying.text(), "");
    QVERIFY(!lying.ok());
}

QTEST_GUILESS_MAIN(TestChannelClient)
#include "tst_channel_client.moc"
