// SPDX-License-Identifier: Apache-2.0
#include "server/sandbox/box.h"
#include "tests/unit/sandbox_bubblewrap/box_fixture.h"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sys/wait.h>

using namespace assay;
using namespace assay::test;
using namespace assay::sandbox;

class TestBubblewrapDriver : public QObject
{
    Q_OBJECT

private slots:
    void probeFindsTheMachineReady();
    void runsACommandAsTheBoxUser();
    void showsPackagesReadOnly();
    void startsFromAPinnedBase();
    void servesTheRealInit();
    void oneIdIsOneBox();
    void missingPackageLeavesNothing();
    void missingBubblewrapIsUnavailable();
    void missingInitIsUnavailable();
    void strangeProgramIsUnavailable();
    void neverStartsAsRoot();
    void softLimitsHoldProcesses();
    void softLimitsHoldMemory();

private:
    static std::string reasonWith(bubblewrap::Options options);

    BoxFixture m_boxes;
};

void TestBubblewrapDriver::probeFindsTheMachineReady()
{
    const DriverStatus status = m_boxes.driver().probe();
    QVERIFY2(status.state == DriverState::Ready, (status.reason + " | " + status.remedy).c_str());
}

void TestBubblewrapDriver::runsACommandAsTheBoxUser()
{
    auto box = m_boxes.box();
    QCOMPARE(shellIn(*box, "id -u; id -g; hostname; pwd").output, "10001\n10001\nbox\n/workspace\n");
    ASSAY_OK(box->destroy());
}

void TestBubblewrapDriver::showsPackagesReadOnly()
{
    auto spec = m_boxes.spec();
    spec.packages.push_back(m_boxes.package("ticket-analysis", {{"SKILL.md", "# hello\n"}}));
    spec.packages.push_back(m_boxes.package("second", {{"SKILL.md", "# second\n"}}));
    auto box = m_boxes.box(spec);
    QCOMPARE(shellIn(*box, "cat /skills/ticket-analysis/SKILL.md /skills/second/SKILL.md").output,
             "# hello\n# second\n");
    QVERIFY(!shellIn(*box, "echo x > /skills/ticket-analysis/x").exitedWith(0));
}

void TestBubblewrapDriver::startsFromAPinnedBase()
{
    namespace fs = std::filesystem;
    const fs::path root = m_boxes.data() / "bases/0/root";
    fs::create_directories(root / "usr/bin");
    fs::create_directories(root / "usr/lib64");
    fs::create_directories(root / "etc");
    fs::create_directories(root / "var/secret");
    fs::create_directory_symlink("usr/bin", root / "bin");
    fs::create_directory_symlink("usr/lib64", root / "lib64");
    for (const char* file : {"/lib64/ld-linux-x86-64.so.2", "/lib/x86_64-linux-gnu/libc.so.6"})
        fs::copy_file(file, root / "usr/lib64" / fs::path(file).filename());
    fs::copy_file("/bin/cat", root / "usr/bin/cat");
    std::ofstream(root / "etc/marker") << "pinned\n";
    auto spec = m_boxes.spec();
    spec.base = {"sha256:0", root};
    auto box = m_boxes.box(spec);
    const Answer answer =
        runIn(*box, {"/lib64/ld-linux-x86-64.so.2", "--library-path", "/lib64", "/bin/cat", "/etc/marker"});
    QCOMPARE(answer.output, "pinned\n");
    for (const char* path : {"/var/secret", "/etc/ld.so.cache", "/usr/bin/python3"})
        QVERIFY(
            !runIn(*box, {"/lib64/ld-linux-x86-64.so.2", "--library-path", "/lib64", "/bin/cat", path}).exitedWith(0));
}

void TestBubblewrapDriver::servesTheRealInit()
{
    auto options = m_boxes.options();
    options.initProgram = ASSAY_BIN_DIR "/assay-init";
    auto driver = bubblewrap::Driver::open(options);
    ASSAY_OK(driver);
    const auto status = (*driver)->probe();
    QVERIFY2(status.state == DriverState::Ready, status.reason.c_str());
    auto handle = (*driver)->create(m_boxes.spec());
    ASSAY_OK(handle);
    auto box = Box::open(std::move(*handle), m_boxes.spec());
    ASSAY_OK(box);
    struct Discard final : OutputSink
    {
        void onOutput(const OutputChunk&) override {}
    } discard;
    Command command;
    command.argv = {"python3", "-c", "import os; print(os.getuid(), os.getcwd(), os.environ['HOME'])"};
    const auto result = (*box)->run(command, discard, {});
    ASSAY_OK(result);
    QCOMPARE(result->exitCode.value_or(-1), 0);
    QCOMPARE(result->out.head + result->out.tail, "10001 /workspace /workspace\n");
    command.argv = {"python3", "-c", "open('/workspace/x', 'wb').write(b'x' * (9 << 20))"};
    const auto hog = (*box)->run(command, discard, {});
    ASSAY_OK(hog);
    QCOMPARE(terminationName(hog->termination), "disk_quota_exceeded");
    ASSAY_OK((*box)->destroy());
}

void TestBubblewrapDriver::oneIdIsOneBox()
{
    const auto spec = m_boxes.spec();
    auto box = m_boxes.box(spec);
    const auto second = m_boxes.driver().create(spec);
    ASSAY_FAILS(second, ErrorCode::Conflict);
    ASSAY_OK(box->destroy());
    const auto later = m_boxes.driver().create(spec);
    ASSAY_OK(later);
}

void TestBubblewrapDriver::missingPackageLeavesNothing()
{
    auto spec = m_boxes.spec();
    spec.packages.push_back(m_boxes.package("gone", {}));
    spec.packages[0].tree = m_boxes.data() / "trees/never";
    QVERIFY(!m_boxes.driver().create(spec));
    QCOMPARE(controlGroupsOf(m_boxes.driver().instance()).size(), 0U);
    spec.packages.clear();
    const auto made = m_boxes.driver().create(spec);
    ASSAY_OK(made);
}

std::string TestBubblewrapDriver::reasonWith(bubblewrap::Options options)
{
    auto driver = bubblewrap::Driver::open(std::move(options));
    if (!driver)
        return "not opened: " + driver.error().message;
    const DriverStatus status = (*driver)->probe();
    BoxSpec spec;
    spec.id = "refused";
    const auto box = (*driver)->create(spec);
    if (status.state != DriverState::Unavailable || status.remedy.empty() || box ||
        box.error().reason != "driver_unavailable")
        return "not refused";
    return status.reason;
}

void TestBubblewrapDriver::missingBubblewrapIsUnavailable()
{
    auto options = m_boxes.options();
    options.bwrapProgram = "/nonexistent/bwrap";
    QCOMPARE(reasonWith(options), "bubblewrap 0.8 or newer was not found as /nonexistent/bwrap");
}

void TestBubblewrapDriver::missingInitIsUnavailable()
{
    auto options = m_boxes.options();
    options.initProgram = "/nonexistent/init";
    QVERIFY(reasonWith(options).contains("assay-init"));
}

void TestBubblewrapDriver::strangeProgramIsUnavailable()
{
    auto options = m_boxes.options();
    options.bwrapProgram = "/bin/true";
    QVERIFY(reasonWith(options).contains("a box could not be made"));
    QCOMPARE(controlGroupsOf(m_boxes.driver().instance()).size(), 0U);
}

void TestBubblewrapDriver::neverStartsAsRoot()
{
    auto options = m_boxes.options();
    options.uid = 0;
    ASSAY_FAILS(bubblewrap::Driver::open(options), ErrorCode::InvalidArgument);
    options = m_boxes.options();
    options.gid = 0;
    ASSAY_FAILS(bubblewrap::Driver::open(options), ErrorCode::InvalidArgument);
}

void TestBubblewrapDriver::softLimitsHoldProcesses()
{
    auto options = m_boxes.options();
    options.limits = bubblewrap::LimitsBy::Rlimits;
    auto driver = bubblewrap::Driver::open(options);
    ASSAY_OK(driver);
    QVERIFY(!(*driver)->probe().hardLimits);
    QCOMPARE((*driver)->probe().limitsSource, "rlimits");
    auto box = (*driver)->create(m_boxes.spec());
    ASSAY_OK(box);
    const Answer answer = pythonIn(
        **box, "import os, time\nn = 0\ntry:\n  while n < 500:\n    if os.fork() == 0:\n      os.close(1); "
               "os.close(2); time.sleep(60)\n    n += 1\nexcept BlockingIOError:\n  time.sleep(0.5)\nprint(n)");
    QCOMPARE(answer.output, "63\n");
    const BoxMeter meter = (*box)->meter();
    QVERIFY(!meter.hard);
    QVERIFY(meter.pidsDenied > 0);
    QCOMPARE(shellIn(**box, "echo alive").output, "alive\n");
}

void TestBubblewrapDriver::softLimitsHoldMemory()
{
    auto options = m_boxes.options();
    options.limits = bubblewrap::LimitsBy::Rlimits;
    auto driver = bubblewrap::Driver::open(options);
    ASSAY_OK(driver);
    auto box = (*driver)->create(m_boxes.spec());
    ASSAY_OK(box);
    // Each stays below the limit of one process; together they are above that of the box.
    const Answer answer = pythonIn(
        **box, "import os, time\npids = []\nfor i in range(3):\n  pid = os.fork()\n  if pid == 0:\n    x = b'x' * (150 "
               "<< 20)\n    time.sleep(20)\n    os._exit(0)\n  pids.append(pid)\nprint(os.WTERMSIG(os.wait()[1]))\nfor "
               "p in pids:\n  try: os.kill(p, 9)\n  except ProcessLookupError: pass");
    QCOMPARE(answer.output, "9\n");
    QVERIFY((*box)->meter().oomKills >= 1);
    QVERIFY((*box)->meter().peakMemoryBytes > (256U << 20));
    QVERIFY(!pythonIn(**box, "x = b'x' * (300 << 20)").exitedWith(0));
}

QTEST_GUILESS_MAIN(TestBubblewrapDriver)
#include "tst_bubblewrap_driver.moc"
