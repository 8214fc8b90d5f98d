// SPDX-License-Identifier: Apache-2.0
// What the channel costs, measured against the same thing done by hand, in turns: what else the machine does meanwhile
// falls on both. Fails only where the promise of the project is broken.
#include "server/sandbox/box.h"
#include "tests/support/live_init.h"
#include "tests/support/test_support.h"

#include <QElapsedTimer>

#include <iostream>

using namespace assay;
using namespace assay::test;
using namespace assay::sandbox;

class TestChannelSpeed : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase();
    void aCommandCostsLittleMoreThanForkAndExec();
    void outputRunsAtAFifthOfAPipe();
    void inputRunsAtATenthOfAPipe();
    void theInitStartsInUnderAMillisecond();

private:
    std::unique_ptr<Box> m_box;
};

namespace {

struct SilentSink final : OutputSink
{
    void onOutput(const OutputChunk&) override {}
};

double median(std::vector<double> samples)
{
    std::ranges::sort(samples);
    return samples[samples.size() / 2];
}

template <typename Work> double milliseconds(const Work& work)
{
    QElapsedTimer timer;
    timer.start();
    work();
    return static_cast<double>(timer.nsecsElapsed()) / 1e6;
}

pid_t spawn(const std::vector<const char*>& words, int out)
{
    std::vector<char*> arguments;
    for (const char* word : words)
        arguments.push_back(const_cast<char*>(word));
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, out, 1);
    char* environment[] = {nullptr};
    pid_t pid = -1;
    ::posix_spawn(&pid, words[0], &actions, nullptr, arguments.data(), environment);
    ::posix_spawn_file_actions_destroy(&actions);
    return pid;
}

/// Runs a program on the host and reads what it writes, as a plain program would.
std::size_t readThroughPipe(const std::vector<const char*>& words)
{
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0)
        return 0;
    const pid_t pid = spawn(words, ends[1]);
    ::close(ends[1]);
    std::string all;
    std::vector<char> buffer(65536);
    for (ssize_t got = 0; (got = ::read(ends[0], buffer.data(), buffer.size())) > 0;)
        all.append(buffer.data(), static_cast<std::size_t>(got));
    ::close(ends[0]);
    int status = 0;
    ::waitpid(pid, &status, 0);
    return all.size();
}

void report(const char* what, double ours, double theirs)
{
    std::cout << "BENCH " << what << ": " << ours << " ms against " << theirs << " ms\n";
}

constexpr std::size_t kTenMebibytes = 10 << 20;

} // namespace

void TestChannelSpeed::initTestCase()
{
    auto box = Box::open(LiveInit::boxed(1 << 20), {.limits = {.workspaceBytes = 0}});
    ASSAY_OK(box);
    m_box = *std::move(box);
}

void TestChannelSpeed::aCommandCostsLittleMoreThanForkAndExec()
{
    Command command;
    command.argv = {"/usr/bin/true"};
    SilentSink sink;
    std::vector<double> box;
    std::vector<double> host;
    for (int round = 0; round < 600; ++round) {
        bool ok = true;
        box.push_back(milliseconds([&] {
            const auto result = m_box->run(command, sink, {});
            ok = result && result->exitCode == 0;
        }));
        QVERIFY(ok);
        host.push_back(milliseconds([] { ::waitpid(spawn({"/usr/bin/true"}, 2), nullptr, 0); }));
    }
    report("a command in a live box, fork and exec and wait on the host", median(box), median(host));
    QVERIFY(median(box) - median(host) < 0.8);
}

void TestChannelSpeed::outputRunsAtAFifthOfAPipe()
{
    Command command;
    command.argv = {"/usr/bin/head", "-c", "10485760", "/dev/zero"};
    command.limits.outputBytes = kTenMebibytes;
    SilentSink sink;
    std::vector<double> box;
    std::vector<double> host;
    for (int round = 0; round < 30; ++round) {
        std::uint64_t bytes = 0;
        box.push_back(milliseconds([&] {
            const auto result = m_box->run(command, sink, {});
            bytes = result ? result->out.head.size() + result->out.tail.size() : 0;
        }));
        QCOMPARE(bytes, kTenMebibytes);
        host.push_back(
            milliseconds([&] { bytes = readThroughPipe({"/usr/bin/head", "-c", "10485760", "/dev/zero"}); }));
        QCOMPARE(bytes, kTenMebibytes);
    }
    report("10 MiB of output, through a pipe on the host", median(box), median(host));
    QVERIFY(median(box) < 5 * median(host));
}

void TestChannelSpeed::inputRunsAtATenthOfAPipe()
{
    Command command;
    command.argv = {"/usr/bin/wc", "-c"};
    command.stdinBytes = std::string(kTenMebibytes, 'x');
    SilentSink sink;
    const QByteArray line = QByteArray("head -c 10485760 /dev/zero | /usr/bin/wc -c");
    std::vector<double> box;
    std::vector<double> host;
    for (int round = 0; round < 30; ++round) {
        std::string told;
        box.push_back(milliseconds([&] {
            const auto result = m_box->run(command, sink, {});
            told = result ? result->out.head + result->out.tail : std::string();
        }));
        QCOMPARE(told, "10485760\n");
        host.push_back(milliseconds([&] { readThroughPipe({"/bin/sh", "-c", line.constData()}); }));
    }
    report("10 MiB of input, through a pipe on the host", median(box), median(host));
    QVERIFY(median(box) < 10 * median(host));
}

void TestChannelSpeed::theInitStartsInUnderAMillisecond()
{
    std::vector<double> init;
    std::vector<double> host;
    for (int round = 0; round < 200; ++round) {
        std::unique_ptr<LiveInit> live;
        init.push_back(milliseconds([&] {
            live = LiveInit::bare();
            pollfd greeting{live->channel(), POLLIN, 0};
            ::poll(&greeting, 1, 5000);
        }));
        (void)live->destroy();
        host.push_back(milliseconds([] { ::waitpid(spawn({"/usr/bin/true"}, 2), nullptr, 0); }));
    }
    report("from the start of the init to its greeting, fork and exec and wait of true", median(init), median(host));
    QVERIFY(median(init) - median(host) < 1);
}

QTEST_GUILESS_MAIN(TestChannelSpeed)
#include "bench_channel.moc"
