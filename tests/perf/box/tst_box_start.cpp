// SPDX-License-Identifier: Apache-2.0
#include "server/sandbox/bubblewrap/arguments.h"
#include "server/sandbox/bubblewrap/launch_pad.h"
#include "tests/unit/sandbox_bubblewrap/box_fixture.h"

#include <spawn.h>
#include <sys/wait.h>

using namespace assay;
using namespace assay::test;
using namespace assay::sandbox;

/// What a box costs, measured against bubblewrap started by hand with the same mounts, in turns: what else the machine
/// does meanwhile falls on both.
class TestBoxStart : public QObject
{
    Q_OBJECT

private slots:
    void oneBoxAgainstBareBubblewrap();
    void costDoesNotGrowWithTheServer();
    void hundredAtOnce();

private:
    using Samples = std::vector<double>;
    static double median(Samples samples);
    double boxMilliseconds();
    static double bareMilliseconds();

    BoxFixture m_boxes;
    Samples m_create;
    Samples m_run;
    Samples m_destroy;
};

double TestBoxStart::median(Samples samples)
{
    std::ranges::sort(samples);
    return samples[samples.size() / 2];
}

double TestBoxStart::boxMilliseconds()
{
    QElapsedTimer timer;
    timer.start();
    auto lap = [&timer, last = 0.0](Samples& samples) mutable {
        const double now = static_cast<double>(timer.nsecsElapsed()) / 1e6;
        samples.push_back(now - std::exchange(last, now));
    };
    auto box = m_boxes.box();
    lap(m_create);
    if (!runIn(*box, {"/bin/true"}).exitedWith(0))
        qFatal("a box failed");
    lap(m_run);
    if (!box->destroy())
        qFatal("a box could not be destroyed");
    lap(m_destroy);
    return static_cast<double>(timer.nsecsElapsed()) / 1e6;
}

double TestBoxStart::bareMilliseconds()
{
    bubblewrap::Sources sources;
    for (const auto& folder : bubblewrap::hostFolders())
        sources.system.push_back({folder.link.empty() ? folder.path : "", folder.path, folder.link});
    sources.system.push_back({"/etc", "/etc", ""});
    sources.init = "/bin/true";
    const BoxLimits limits;
    const std::string options = bubblewrap::bwrapOptions(limits, sources);
    std::vector<std::string> words{"bwrap"};
    for (std::size_t at = 0; at < options.size();) {
        const std::string word = options.c_str() + at;
        at += word.size() + 1;
        // Descriptors are the driver's own; by hand there are none.
        if (word == "--add-seccomp-fd" || word == "--info-fd")
            at += std::strlen(options.c_str() + at) + 1;
        else
            words.push_back(word);
    }
    words.emplace_back("/.assay/init");
    std::vector<char*> argv;
    for (std::string& word : words)
        argv.push_back(word.data());
    argv.push_back(nullptr);
    QElapsedTimer timer;
    timer.start();
    pid_t pid = -1;
    int status = -1;
    if (::posix_spawnp(&pid, "bwrap", nullptr, nullptr, argv.data(), environ) != 0 ||
        ::waitpid(pid, &status, 0) != pid || status != 0)
        qFatal("bubblewrap by hand failed");
    return static_cast<double>(timer.nsecsElapsed()) / 1e6;
}

void TestBoxStart::oneBoxAgainstBareBubblewrap()
{
    Samples boxes;
    Samples bare;
    for (int i = 0; i < 100; ++i) {
        boxes.push_back(boxMilliseconds());
        bare.push_back(bareMilliseconds());
    }
    qInfo("box %.2f ms, bubblewrap by hand %.2f ms, medians of 100", median(boxes), median(bare));
    qInfo("of the box: create %.2f, run %.2f, destroy %.2f ms", median(m_create), median(m_run), median(m_destroy));
    QVERIFY(median(boxes) - median(bare) <= 3.0);
}

void TestBoxStart::costDoesNotGrowWithTheServer()
{
    Samples small;
    Samples large;
    for (int round = 0; round < 4; ++round) {
        for (int i = 0; i < 15; ++i)
            small.push_back(boxMilliseconds());
        const std::vector<char> ballast(300U << 20, 'x');
        for (int i = 0; i < 15; ++i)
            large.push_back(boxMilliseconds());
        QCOMPARE(ballast[ballast.size() / 2], 'x');
    }
    qInfo("box %.2f ms, in a server of 300 MB %.2f ms", median(small), median(large));
    QVERIFY(median(large) - median(small) <= 2.0);
}

void TestBoxStart::hundredAtOnce()
{
    QElapsedTimer timer;
    timer.start();
    std::atomic<int> made = 0;
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < 100; ++i)
            threads.emplace_back([&] {
                auto box = m_boxes.driver().create(m_boxes.spec());
                made += box && runIn(**box, {"/bin/true"}).exitedWith(0) && (*box)->destroy() ? 1 : 0;
            });
    }
    qInfo("100 at once: %lld ms", static_cast<long long>(timer.elapsed()));
    QCOMPARE(made.load(), 100);
}

QTEST_GUILESS_MAIN(TestBoxStart)
#include "tst_box_start.moc"
