// SPDX-License-Identifier: Apache-2.0
// Every byte in and out, in order. The real init, without a box around it.
#include "server/sandbox/box.h"
#include "tests/support/live_init.h"
#include "tests/support/test_support.h"

#include <QElapsedTimer>
#include <QTemporaryDir>

using namespace assay;
using namespace assay::test;
using namespace assay::sandbox;

class TestBoxOutput : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase();
    void tenMebibytesAreByteExact();
    void sequenceCountsOverBothStreams();
    void keepsOrderAcrossTheStreams();
    void splitCharactersStayBytes();
    void aHundredThousandSmallWrites();
    void truncatesWithoutBlockingTheProcess();
    void terminatesAboveTheCap();
    void terminateModeLeavesOutputAtTheCapAlone();
    void aSlowReaderOnlySlowsTheCommand();
    void nothingInTheOutputForgesAFrame();
    void tenMebibytesOfInputToAReader();
    void tenMebibytesOfInputToNobody();
    void inputToAProcessThatClosesItEarly();
    void noInputIsTheEndOfInput();
    void aFilterEchoesWhileItReads();
    void closedOutputsAreNotTheEnd();

private:
    CommandResult run(Command command, RecordingSink& sink);

    QTemporaryDir m_folder;
    std::unique_ptr<Box> m_box;
};

namespace {

constexpr std::size_t kTenMebibytes = 10 * 1024 * 1024;

std::string pattern(std::size_t size)
{
    std::string bytes(size, '\0');
    std::uint32_t state = 1;
    for (char& byte : bytes)
        byte = static_cast<char>((state = state * 1'664'525 + 1'013'904'223) >> 24);
    return bytes;
}

} // namespace

void TestBoxOutput::initTestCase()
{
    auto box = Box::open(LiveInit::bare(), {.limits = {.workspaceBytes = 0}},
                         {.workspace = m_folder.path().toStdString(), .role = InitRole::Subreaper});
    ASSAY_OK(box);
    m_box = *std::move(box);
}

CommandResult TestBoxOutput::run(Command command, RecordingSink& sink)
{
    command.cwd = "/";
    auto result = m_box->run(command, sink, {});
    return result ? *std::move(result) : CommandResult{};
}

void TestBoxOutput::tenMebibytesAreByteExact()
{
    Command command = shell("cat");
    command.stdinBytes = pattern(kTenMebibytes);
    command.limits.outputBytes = kTenMebibytes;
    RecordingSink sink;
    const auto result = run(command, sink);
    QCOMPARE(result.termination, Termination::Exited);
    QVERIFY(sink.out == command.stdinBytes);
    QVERIFY(result.out.head + result.out.tail == command.stdinBytes);
    QCOMPARE(result.out.droppedBytes(), 0U);
}

void TestBoxOutput::sequenceCountsOverBothStreams()
{
    RecordingSink sink;
    const auto result = run(python("import os\n"
                                   "for i in range(3000):\n"
                                   "  os.write(1 + i % 2, b'x' * 5000)"),
                            sink);
    QCOMPARE(result.exitCode, 0);
    QCOMPARE(result.out.totalBytes, 1500U * 5000);
    QCOMPARE(result.err.totalBytes, 1500U * 5000);
    for (std::size_t i = 0; i < sink.sequence.size(); ++i)
        QCOMPARE(sink.sequence[i], i);
}

void TestBoxOutput::keepsOrderAcrossTheStreams()
{
    RecordingSink sink;
    std::string order;
    std::chrono::milliseconds last{0};
    bool timesRise = true;
    sink.onChunk = [&](const OutputChunk& chunk) {
        order += chunk.bytes;
        timesRise = timesRise && chunk.sinceStart >= last;
        last = chunk.sinceStart;
    };
    run(python("import os, time\n"
               "for c in b'abcdefgh':\n"
               "  os.write(1 + c % 2, bytes([c])); time.sleep(0.05)"),
        sink);
    QCOMPARE(order, "abcdefgh");
    QVERIFY(timesRise && last.count() >= 300);
}

void TestBoxOutput::splitCharactersStayBytes()
{
    RecordingSink sink;
    run(python("import os, time\n"
               "for b in '\\u00e4\\u65e5\\U0001f600'.encode():\n"
               "  os.write(1, bytes([b])); time.sleep(0.01)"),
        sink);
    QCOMPARE(sink.out, "\xc3\xa4\xe6\x97\xa5\xf0\x9f\x98\x80");
}

void TestBoxOutput::aHundredThousandSmallWrites()
{
    Command command = python("import os\n"
                             "for i in range(100000):\n"
                             "  os.write(1 + (i & 1), b'%06d\\n' % i)");
    RecordingSink sink;
    const auto result = run(command, sink);
    QCOMPARE(result.exitCode, 0);
    std::string even;
    std::string odd;
    for (int i = 0; i < 100'000; ++i)
        (i % 2 == 0 ? even : odd) += QString::asprintf("%06d\n", i).toStdString();
    QVERIFY(sink.out == even);
    QVERIFY(sink.err == odd);
}

void TestBoxOutput::truncatesWithoutBlockingTheProcess()
{
    Command command = python("import os\n"
                             "for i in range(3000):\n"
                             "  os.write(1, b'%010d' % i * 1000)\n"
                             "os.write(2, b'done')");
    RecordingSink sink;
    const auto result = run(command, sink);
    QCOMPARE(result.termination, Termination::Exited);
    QCOMPARE(result.exitCode, 0);
    QCOMPARE(sink.err, "done");
    QCOMPARE(result.out.totalBytes, 30'000'000U);
    QCOMPARE(result.out.head.size(), 256U * 1024);
    QCOMPARE(result.out.tail.size(), 768U * 1024);
    QCOMPARE(result.out.droppedBytes(), 30'000'000U - 1024 * 1024);
    QVERIFY(result.out.head.starts_with("00000000000000000000"));
    QVERIFY(result.out.tail.ends_with("0000002999"));
    QCOMPARE(sink.out.size(), 1024U * 1024);
}

void TestBoxOutput::terminatesAboveTheCap()
{
    Command command = shell("exec yes"); // no shell in between that would tell of the signal as 128+n
    command.limits.outputBytes = 100'000;
    command.limits.outputMode = OutputMode::Terminate;
    RecordingSink sink;
    QElapsedTimer timer;
    timer.start();
    const auto result = run(command, sink);
    QCOMPARE(result.termination, Termination::OutputCapExceeded);
    QCOMPARE(result.signal, SIGKILL);
    QVERIFY(timer.elapsed() < 10'000);
    QVERIFY(result.out.totalBytes > 100'000);
    QCOMPARE(result.out.head.size() + result.out.tail.size(), 100'000U);
    // Also when the process ends by itself before the kill reaches it.
    Command brief = shell("head -c 100001 /dev/zero");
    brief.limits = command.limits;
    RecordingSink other;
    QCOMPARE(run(brief, other).termination, Termination::OutputCapExceeded);
}

void TestBoxOutput::terminateModeLeavesOutputAtTheCapAlone()
{
    Command command = shell("head -c 100000 /dev/zero; head -c 100000 /dev/zero >&2");
    command.limits.outputBytes = 100'000;
    command.limits.outputMode = OutputMode::Terminate;
    RecordingSink sink;
    const auto result = run(command, sink);
    QCOMPARE(result.termination, Termination::Exited);
    QCOMPARE(result.out.droppedBytes() + result.err.droppedBytes(), 0U);
}

void TestBoxOutput::aSlowReaderOnlySlowsTheCommand()
{
    Command command = shell("head -c 6000000 /dev/zero");
    command.limits.outputBytes = 16'000'000;
    RecordingSink sink;
    sink.onChunk = [](const OutputChunk&) { ::usleep(2000); };
    const auto result = run(command, sink);
    QCOMPARE(result.termination, Termination::Exited);
    QCOMPARE(sink.out.size(), 6'000'000U);
}

void TestBoxOutput::nothingInTheOutputForgesAFrame()
{
    // Whole frames of every type, and a header that claims more than follows: all of it is only output.
    Command command = python("import os, struct\n"
                             "forged = b''.join(struct.pack('<IBI', 61, t, 1) + bytes(61) for t in range(256))\n"
                             "os.write(1, forged); os.write(2, struct.pack('<IBI', 2**32-1, 6, 1))");
    RecordingSink sink;
    const auto result = run(command, sink);
    QCOMPARE(result.termination, Termination::Exited);
    QCOMPARE(sink.out.size(), 256U * 70);
    QCOMPARE(sink.err.size(), 9U);
}

void TestBoxOutput::tenMebibytesOfInputToAReader()
{
    Command command = shell("cksum");
    command.stdinBytes = std::string(kTenMebibytes, 'z');
    RecordingSink sink;
    const auto result = run(command, sink);
    QCOMPARE(result.exitCode, 0);
    QVERIFY2(sink.out.ends_with(" 10485760\n"), sink.out.c_str());
}

void TestBoxOutput::tenMebibytesOfInputToNobody()
{
    Command command = shell("sleep 0.2; echo never read");
    command.stdinBytes = std::string(kTenMebibytes, 'z');
    RecordingSink sink;
    const auto result = run(command, sink);
    QCOMPARE(result.termination, Termination::Exited);
    QCOMPARE(sink.out, "never read\n");
}

void TestBoxOutput::inputToAProcessThatClosesItEarly()
{
    Command command = shell("head -c 1000 >/dev/null; exec 0<&-; sleep 0.2; echo still here");
    command.stdinBytes = std::string(kTenMebibytes, 'z');
    RecordingSink sink;
    for (int round = 0; round < 3; ++round) {
        const auto result = run(command, sink);
        QCOMPARE(result.termination, Termination::Exited);
        QCOMPARE(result.exitCode, 0);
    }
    QCOMPARE(sink.out, "still here\nstill here\nstill here\n");
}

void TestBoxOutput::noInputIsTheEndOfInput()
{
    RecordingSink sink;
    QCOMPARE(run(shell("cat; echo end"), sink).exitCode, 0);
    QCOMPARE(sink.out, "end\n");
}

void TestBoxOutput::aFilterEchoesWhileItReads()
{
    // Both directions are full at once: neither end may wait for the other.
    Command command = shell("tee /dev/stderr");
    command.stdinBytes = pattern(4 * 1024 * 1024);
    command.limits.outputBytes = 8 * 1024 * 1024;
    RecordingSink sink;
    QCOMPARE(run(command, sink).exitCode, 0);
    QVERIFY(sink.out == command.stdinBytes);
    QVERIFY(sink.err == command.stdinBytes);
}

void TestBoxOutput::closedOutputsAreNotTheEnd()
{
    QElapsedTimer timer;
    timer.start();
    RecordingSink sink;
    const auto result = run(shell("exec >&- 2>&-; sleep 0.3; exit 5"), sink);
    QCOMPARE(result.exitCode, 5);
    QVERIFY(timer.elapsed() >= 290);
}

QTEST_GUILESS_MAIN(TestBoxOutput)
#include "tst_box_output.moc"
