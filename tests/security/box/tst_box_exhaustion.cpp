// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/sandbox_bubblewrap/box_fixture.h"

#include <csignal>
#include <sys/wait.h>

using namespace assay;
using namespace assay::test;
using namespace assay::sandbox;

/// A box that takes all it can get stays within its limits, answers afterwards, and tells what happened.
class TestBoxExhaustion : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase();
    void forkBombIsHeld();
    void memoryHogDies();
    void memoryOfFilesCounts();
    void workspaceHogGetsNoSpace();
    void inodeHogGetsNoSpace();
    void temporaryHogGetsNoSpace();
    void processorTimeIsHeld();

private:
    BoxFixture m_boxes;
};

void TestBoxExhaustion::initTestCase()
{
    const DriverStatus status = m_boxes.driver().probe();
    QVERIFY2(status.hardLimits,
             "these limits are the kernel's only where control groups are available: run this as root");
}

void TestBoxExhaustion::forkBombIsHeld()
{
    auto box = m_boxes.box();
    QCOMPARE(box->meter().pidsDenied, 0U);
    const Answer answer = pythonIn(*box, R"(
import os, time
made = 0
for i in range(500):
    try:
        if os.fork() == 0:
            os.close(1)
            os.close(2)
            time.sleep(60)
    except BlockingIOError:
        break
    made += 1
print(made))");
    QCOMPARE(answer.output, "63\n");
    QVERIFY(box->meter().pidsDenied > 0);
    shellIn(*box, "bomb() { bomb | bomb & }; bomb; sleep 1");
    QCOMPARE(shellIn(*box, "echo alive").output, "alive\n");
    ASSAY_OK(box->destroy());
}

void TestBoxExhaustion::memoryHogDies()
{
    auto box = m_boxes.box();
    const Answer answer = pythonIn(*box, "x = []\nwhile True: x.append(b'x' * (8 << 20))");
    QVERIFY(!answer.lost && WIFSIGNALED(answer.status) && WTERMSIG(answer.status) == SIGKILL);
    const BoxMeter meter = box->meter();
    QVERIFY(meter.hard);
    QVERIFY(meter.oomKills >= 1);
    QVERIFY(meter.peakMemoryBytes > (200U << 20) && meter.peakMemoryBytes <= (256U << 20));
    QCOMPARE(shellIn(*box, "echo alive").output, "alive\n");
}

void TestBoxExhaustion::memoryOfFilesCounts()
{
    auto spec = m_boxes.spec();
    spec.limits.workspaceBytes = 512U << 20;
    auto box = m_boxes.box(spec);
    const Answer answer = shellIn(*box, "exec dd if=/dev/zero of=/workspace/big bs=1M count=500 2>/dev/null");
    QVERIFY(!answer.exitedWith(0));
    QVERIFY(box->meter().oomKills >= 1);
}

void TestBoxExhaustion::workspaceHogGetsNoSpace()
{
    auto box = m_boxes.box();
    const Answer answer = shellIn(*box, "dd if=/dev/zero of=/workspace/a bs=64k count=1000; stat -f -c '%S %b %f' "
                                        "/workspace; ls -l /workspace/a | cut -d' ' -f5");
    QVERIFY(answer.output.contains("No space left on device"));
    QVERIFY2(answer.output.contains("4096 2080 0\n"), answer.output.c_str()); // 8 MiB and 128 KiB in pages
    // An unlinked file that is held open counts as well.
    const Answer hidden =
        pythonIn(*box, "import os\nos.remove('/workspace/a')\nf = open('/workspace/b', 'wb', "
                       "0)\nos.remove('/workspace/b')\nf.write(b'x' * (8 << 20))\nopen('/workspace/c', 'wb', "
                       "0).write(b'x' * (1 << 20)) == 1 << 20 and print('more')");
    QVERIFY(!hidden.output.contains("more"));
}

void TestBoxExhaustion::inodeHogGetsNoSpace()
{
    auto box = m_boxes.box();
    const Answer answer =
        pythonIn(*box, "import os\nn = 0\ntry:\n  while n < 40000:\n    os.close(os.open('/workspace/%d' % n, "
                       "os.O_CREAT))\n    n += 1\nexcept OSError as e:\n  print(e.errno, 16000 < n < 16384)");
    QCOMPARE(answer.output, "28 True\n");
}

void TestBoxExhaustion::temporaryHogGetsNoSpace()
{
    auto box = m_boxes.box();
    QVERIFY(
        shellIn(*box, "dd if=/dev/zero of=/tmp/a bs=64k count=1000; stat -f -c '%b' /tmp").output.ends_with("1024\n"));
}

void TestBoxExhaustion::processorTimeIsHeld()
{
    auto spec = m_boxes.spec();
    spec.limits.cpus = 0.2;
    auto box = m_boxes.box(spec);
    const Answer answer = pythonIn(*box, "import time\nend = time.monotonic() + 2\nwhile time.monotonic() < end: "
                                         "pass\nprint(time.process_time() < 0.7)");
    QCOMPARE(answer.output, "True\n");
    const auto used = box->meter().cpu;
    QVERIFY2(used > std::chrono::milliseconds(150) && used < std::chrono::milliseconds(900),
             std::to_string(used.count()).c_str());
}

QTEST_GUILESS_MAIN(TestBoxExhaustion)
#include "tst_box_exhaustion.moc"
