// SPDX-License-Identifier: Apache-2.0
// A hostile server's side: whatever bytes it is sent, assay-init ends in order (0 or 70), soon, and leaves nothing.
#include "tests/support/live_init.h"
#include "tests/support/test_support.h"
#include "tests/unit/sandbox/scripted_init.h"

#include <QTemporaryDir>

#include <filesystem>
#include <random>

using namespace assay;
using namespace assay::test;
using namespace assay::sandbox;
using channel::FrameType;

class TestInitFuzz : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase();
    void refusesEachViolation_data();
    void refusesEachViolation();
    void ignoresWhatIsOnlyLate();
    void survivesNoiseBeforeTheGreeting();
    void survivesMutatedConversations();

private:
    /// Sends everything, reads to the end, answers the init's raw wait status.
    int converse(const std::string& bytes);
    std::string setup() const;
    std::string greeted() const { return setup(); }

    QTemporaryDir m_folder;
};

namespace {

constexpr int kViolation = 70 << 8;

std::string text(const std::string& bytes) { return numbers(std::uint32_t(bytes.size())) + bytes; }

std::string zero(const std::string& bytes) { return text(bytes + '\0'); }

std::string runPayload(const std::string& program, std::uint32_t credit = 1 << 20)
{
    return numbers(credit, credit, std::uint32_t{022}, std::uint64_t{64}, std::uint64_t{0}) + zero("/") +
           numbers(std::uint32_t{1}) + zero(program) + numbers(std::uint32_t{1}) + zero("PATH=/usr/bin");
}

std::string runFrame(std::uint32_t stream, const std::string& program = "/bin/true")
{
    return frameBytes(FrameType::Run, stream, runPayload(program));
}

std::string putFrame(std::uint32_t stream, std::uint64_t size, const std::string& path)
{
    return frameBytes(FrameType::PutFile, stream, numbers(std::uint8_t{0}, size) + text(path));
}

} // namespace

void TestInitFuzz::initTestCase() { QVERIFY(QDir(m_folder.path()).mkpath("out")); }

std::string TestInitFuzz::setup() const
{
    return frameBytes(FrameType::Setup, 0,
                      numbers(std::uint16_t{1}, std::uint64_t{0}) + text(m_folder.path().toStdString()) +
                          text("/skills"));
}

int TestInitFuzz::converse(const std::string& bytes)
{
    auto live = LiveInit::bare();
    std::string_view rest = bytes;
    bool open = true;
    for (int idle = 0; idle < 100 && open;) {
        pollfd waiting{live->channel(), static_cast<short>(POLLIN | (rest.empty() ? 0 : POLLOUT)), 0};
        // Nothing to send and nothing said for a moment: the conversation is over.
        if (::poll(&waiting, 1, rest.empty() ? 20 : 2000) <= 0)
            break;
        char buffer[65536];
        if ((waiting.revents & POLLIN) != 0)
            open = ::recv(live->channel(), buffer, sizeof buffer, MSG_DONTWAIT) != 0;
        else if ((waiting.revents & (POLLHUP | POLLERR)) != 0)
            open = false;
        if (open && (waiting.revents & POLLOUT) != 0) {
            const ssize_t sent = ::send(live->channel(), rest.data(), rest.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
            open = sent >= 0 || errno == EAGAIN;
            rest.remove_prefix(sent > 0 ? static_cast<std::size_t>(sent) : 0);
        }
    }
    (void)live->destroy();
    return live->exitStatus;
}

void TestInitFuzz::refusesEachViolation_data()
{
    QTest::addColumn<QByteArray>("bytes");
    const auto row = [this](const char* name, const std::string& bytes) {
        QTest::newRow(name) << QByteArray::fromStdString(greeted() + bytes);
    };
    QTest::newRow("a request before the setup") << QByteArray::fromStdString(runFrame(1));
    QTest::newRow("a setup of another version") << QByteArray::fromStdString(
        frameBytes(FrameType::Setup, 0, numbers(std::uint16_t{2}, std::uint64_t{0}) + text("/tmp") + text("/skills")));
    QTest::newRow("a workspace that is not there") << QByteArray::fromStdString(frameBytes(
        FrameType::Setup, 0, numbers(std::uint16_t{1}, std::uint64_t{0}) + text("/no/where") + text("/skills")));
    row("a second setup", setup());
    row("an oversize frame", frameBytes(67, 1, "x", channel::kMaxPayload + 1));
    row("the largest length", frameBytes(67, 1, "x", 0xffff'ffff));
    row("an unknown type", frameBytes(99, 1, "x"));
    row("type 0", frameBytes(0, 1, {}));
    row("a frame that only boxes send", frameBytes(FrameType::Exit, 1, std::string(61, '\0')));
    row("stream 0", runFrame(0));
    row("a stream that does not rise", frameBytes(FrameType::Measure, 5) + frameBytes(FrameType::Measure, 5));
    row("a second command at once", runFrame(1, "/bin/cat") + runFrame(2));
    row("a file during a command", runFrame(1, "/bin/cat") + putFrame(2, 0, "a"));
    row("a command during a file", putFrame(1, 5, "a") + runFrame(2));
    row("an empty command", frameBytes(FrameType::Run, 1));
    row("a byte too many", frameBytes(FrameType::Run, 1, runPayload("/bin/true") + "x"));
    row("too much credit", frameBytes(FrameType::Run, 1, runPayload("/bin/true", 0xffff'ffff)));
    row("credit over the most",
        runFrame(1, "/bin/cat") +
            frameBytes(FrameType::Credit, 1, numbers(std::uint8_t{1}, std::uint32_t{0x7fff'ffff})));
    row("credit for the input",
        runFrame(1, "/bin/cat") + frameBytes(FrameType::Credit, 1, numbers(std::uint8_t{0}, std::uint32_t{1})));
    row("input after its end",
        runFrame(1, "/bin/cat") + frameBytes(FrameType::StdinEnd, 1) + frameBytes(FrameType::Stdin, 1, "x"));
    std::string flood = frameBytes(FrameType::Run, 1, runPayload("/bin/cat", 0));
    for (int i = 0; i < 12; ++i)
        flood += frameBytes(FrameType::Stdin, 1, std::string(65536, 'x'));
    row("input above its credit", flood);
    row("a kill of the future", frameBytes(FrameType::Kill, 9));
    row("bytes without a file", frameBytes(FrameType::PutBytes, 1, "x"));
    row("more bytes than announced", putFrame(1, 2, "a") + frameBytes(FrameType::PutBytes, 1, "xyz"));
    row("fewer bytes than announced",
        putFrame(1, 2, "a") + frameBytes(FrameType::PutBytes, 1, "x") + frameBytes(FrameType::PutEnd, 1));
    row("a path without end",
        frameBytes(FrameType::PutFile, 1, numbers(std::uint8_t{0}, std::uint64_t{1}, std::uint32_t{4000}) + "a"));
    row("an unknown tree", frameBytes(FrameType::Walk, 1, numbers(std::uint8_t{2}, std::uint8_t{0}, std::uint32_t{1})));
    row("too long a walk",
        frameBytes(FrameType::Walk, 1, numbers(std::uint8_t{0}, std::uint8_t{0}, std::uint32_t{200'001})));
    std::string parts;
    for (int i = 0; i < 17; ++i)
        parts += frameBytes(FrameType::CommandPart, 1, std::string(65536, 'x'));
    row("a command over a mebibyte", parts);
}

void TestInitFuzz::refusesEachViolation()
{
    QFETCH(QByteArray, bytes);
    QCOMPARE(converse(bytes.toStdString()), kViolation);
}

void TestInitFuzz::ignoresWhatIsOnlyLate()
{
    QCOMPARE(converse(greeted() + runFrame(1) + frameBytes(FrameType::StdinEnd, 1)), 0);
    const std::string late = frameBytes(FrameType::Stdin, 1, "x") + frameBytes(FrameType::Kill, 1) +
                             frameBytes(FrameType::Credit, 1, numbers(std::uint8_t{1}, std::uint32_t{5}));
    QCOMPARE(converse(greeted() + frameBytes(FrameType::Measure, 1) + late + frameBytes(FrameType::Measure, 2)), 0);
}

void TestInitFuzz::survivesNoiseBeforeTheGreeting()
{
    std::mt19937 random(1);
    for (int round = 0; round < 40; ++round) {
        std::string noise(random() % 500 + 9, '\0');
        for (char& byte : noise)
            byte = static_cast<char>(random());
        const int status = converse(noise);
        QVERIFY2(status == 0 || status == kViolation, qPrintable(QString::number(status)));
    }
}

void TestInitFuzz::survivesMutatedConversations()
{
    std::mt19937 random(20261130);
    std::filesystem::create_directories(m_folder.filePath("out").toStdString());
    for (int round = 0; round < 250; ++round) {
        std::string talk;
        for (std::uint32_t stream = 1; stream < 2 + random() % 5; ++stream) {
            switch (random() % 6) {
            case 0:
                talk += runFrame(stream, random() % 2 ? "/bin/true" : "cat") +
                        frameBytes(FrameType::Stdin, stream, "abc") + frameBytes(FrameType::StdinEnd, stream);
                break;
            case 1:
                talk += putFrame(stream, 3, "f/g") + frameBytes(FrameType::PutBytes, stream, "abc") +
                        frameBytes(FrameType::PutEnd, stream);
                break;
            case 2:
                talk += frameBytes(FrameType::ReadFile, stream, numbers(std::uint64_t{100}) + text("f"));
                break;
            case 3:
                talk +=
                    frameBytes(FrameType::Walk, stream, numbers(std::uint8_t{0}, std::uint8_t{1}, std::uint32_t{50}));
                break;
            case 4:
                talk += runFrame(stream, "/bin/cat") + frameBytes(FrameType::Kill, stream);
                break;
            default:
                talk += frameBytes(FrameType::Measure, stream);
            }
        }
        for (std::size_t flips = random() % 4; flips > 0; --flips)
            talk[random() % talk.size()] = static_cast<char>(random());
        if (random() % 4 == 0)
            talk.resize(random() % talk.size());
        const int status = converse(greeted() + talk);
        QVERIFY2(status == 0 || status == kViolation, qPrintable(QString::number(status)));
    }
}

QTEST_GUILESS_MAIN(TestInitFuzz)
#include "tst_init_fuzz.moc"
