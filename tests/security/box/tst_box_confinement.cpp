// SPDX-License-Identifier: Apache-2.0
#include "server/core/file_io.h"
#include "tests/unit/sandbox_bubblewrap/box_fixture.h"

#include <csignal>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>

using namespace assay;
using namespace assay::test;

/// What a box can see, reach and change.
class TestBoxConfinement : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase();
    void showsOnlyTheAllowList();
    void hidesTheHostsFiles_data();
    void hidesTheHostsFiles();
    void initIsOpaque_data();
    void initIsOpaque();
    void initSurvivesSignals();
    void writesOnlyInTwoPlaces_data();
    void writesOnlyInTwoPlaces();
    void kernelSettingsAreReadOnly_data();
    void kernelSettingsAreReadOnly();
    void everyMountIsNosuid();
    void mountsTellNoPathOfTheServer();
    void inheritsNoEnvironment();
    void inheritsNoDescriptor();
    void hasNoPrivilege();
    void hasNoNetwork();
    void cannotReachTheHostsAbstractSockets();
    void cannotSeeAnotherBox();
    void holdsNoTerminal();

private:
    BoxFixture m_boxes;
    std::unique_ptr<sandbox::BoxHandle> m_box;
};

void TestBoxConfinement::initTestCase()
{
    // Planted before the box exists: what a server may carelessly have.
    qputenv("ASSAY_SECRET_PLANTED", "hunter2-planted");
    ::signal(SIGPIPE, SIG_IGN);
    auto spec = m_boxes.spec();
    spec.packages.push_back(m_boxes.package("pinned", {{"SKILL.md", "# pinned\n"}}));
    m_box = m_boxes.box(spec);
}

void TestBoxConfinement::showsOnlyTheAllowList()
{
    const Answer answer = shellIn(*m_box, "ls -A / | grep -vx -e lib32 -e libx32 | tr '\\n' ' '");
    QCOMPARE(answer.output, ".assay bin dev etc lib lib64 proc sbin skills tmp usr workspace ");
}

void TestBoxConfinement::hidesTheHostsFiles_data()
{
    QTest::addColumn<QString>("path");
    for (const char* path : {"/root",
                             "/home",
                             "/run",
                             "/var",
                             "/sys",
                             "/srv",
                             "/mnt",
                             "/media",
                             "/opt",
                             "/boot",
                             "/etc/shadow",
                             "/etc/ssh",
                             "/etc/apt",
                             "/etc/resolv.conf",
                             "/etc/sudoers",
                             "/etc/machine-id",
                             "/stage",
                             "/oldroot",
                             "/newroot",
                             "/var/run/docker.sock",
                             "/proc/1/root/etc",
                             "/proc/self/root/root",
                             "/proc/self/cwd/../root",
                             "/dev/sda",
                             "/dev/vda",
                             "/dev/mem",
                             "/dev/kmsg",
                             "/dev/tty",
                             "/dev/ptmx",
                             "/dev/mqueue",
                             "/dev/kvm",
                             "/dev/fuse"})
        QTest::newRow(path) << QString(path);
}

void TestBoxConfinement::hidesTheHostsFiles()
{
    QFETCH(QString, path);
    QVERIFY(shellIn(*m_box, "test ! -e " + path.toStdString()).exitedWith(0));
}

void TestBoxConfinement::initIsOpaque_data()
{
    QTest::addColumn<QString>("path");
    for (const char* path :
         {"environ", "mem", "maps", "fd", "root", "cwd", "exe", "auxv", "syscall", "fdinfo", "map_files", "ns/user"})
        QTest::newRow(path) << QString(path);
}

void TestBoxConfinement::initIsOpaque()
{
    QFETCH(QString, path);
    const std::string target = "/proc/1/" + path.toStdString();
    const Answer answer = shellIn(*m_box, "cat " + target + " >/dev/null 2>&1 || ls " + target +
                                              "/ >/dev/null 2>&1 || readlink " + target);
    QVERIFY2(!answer.exitedWith(0), answer.output.c_str());
}

void TestBoxConfinement::initSurvivesSignals()
{
    shellIn(*m_box, "for s in $(seq 1 64); do kill -$s 1; done");
    pythonIn(*m_box, "import os, signal\nsignal.signal(15, signal.SIG_IGN)\nos.kill(-1, 15)\nos.kill(-1, 11)");
    QCOMPARE(shellIn(*m_box, "echo alive").output, "alive\n");
}

void TestBoxConfinement::writesOnlyInTwoPlaces_data()
{
    QTest::addColumn<QString>("folder");
    QTest::addColumn<bool>("writable");
    for (const char* folder :
         {"/", "/usr", "/usr/bin", "/usr/lib", "/bin", "/etc", "/etc/ssl", "/skills", "/skills/pinned", "/.assay",
          "/dev", "/dev/shm", "/proc", "/proc/sys", "/proc/sys/kernel"})
        QTest::newRow(folder) << QString(folder) << false;
    for (const char* folder : {"/workspace", "/workspace/out", "/tmp"})
        QTest::newRow(folder) << QString(folder) << true;
}

void TestBoxConfinement::writesOnlyInTwoPlaces()
{
    QFETCH(QString, folder);
    QFETCH(bool, writable);
    const std::string path = folder.toStdString() + "/.probe";
    QCOMPARE(shellIn(*m_box, "echo x > " + path).exitedWith(0), writable);
    QCOMPARE(shellIn(*m_box, "mkdir " + path + "-folder").exitedWith(0), writable);
    QCOMPARE(shellIn(*m_box, "ln -s / " + path + "-link").exitedWith(0), writable);
    if (!writable) {
        QVERIFY(!shellIn(*m_box, "chmod 0777 " + folder.toStdString()).exitedWith(0));
        QVERIFY(!shellIn(*m_box, "touch " + folder.toStdString()).exitedWith(0));
    }
    QVERIFY(!shellIn(*m_box, "mknod " + path + "-device b 254 0").exitedWith(0));
}

void TestBoxConfinement::kernelSettingsAreReadOnly_data()
{
    QTest::addColumn<QString>("path");
    for (const char* path :
         {"/proc/sys/kernel/hostname", "/proc/sys/kernel/core_pattern", "/proc/sys/user/max_user_namespaces",
          "/proc/sys/kernel/shmmax", "/proc/sys/fs/mqueue/msg_max", "/proc/sys/net/ipv4/ip_forward",
          "/proc/sys/net/ipv4/ping_group_range", "/proc/sys/vm/drop_caches", "/proc/sysrq-trigger",
          "/proc/self/uid_map", "/proc/self/gid_map", "/proc/self/setgroups", "/proc/1/oom_score_adj", "/proc/1/comm"})
        QTest::newRow(path) << QString(path);
}

void TestBoxConfinement::kernelSettingsAreReadOnly()
{
    QFETCH(QString, path);
    const Answer answer = shellIn(*m_box, "v=$(head -c 200 " + path.toStdString() +
                                              " 2>/dev/null); printf '%s' \"${v:-1}\" > " + path.toStdString());
    QVERIFY2(!answer.exitedWith(0), answer.output.c_str());
}

void TestBoxConfinement::everyMountIsNosuid()
{
    const Answer answer = shellIn(*m_box, "grep -v -e nosuid /proc/self/mountinfo | wc -l");
    QCOMPARE(answer.output, "0\n");
}

void TestBoxConfinement::mountsTellNoPathOfTheServer()
{
    const Answer answer =
        shellIn(*m_box, "cat /proc/self/mountinfo /proc/self/mounts /proc/self/mountstats /proc/1/mountinfo");
    QVERIFY(answer.output.contains("/skills/pinned"));
    QVERIFY2(!answer.output.contains(m_boxes.data().string()), answer.output.c_str());
    QVERIFY2(!answer.output.contains(m_boxes.data().parent_path().filename().string()), answer.output.c_str());
}

void TestBoxConfinement::inheritsNoEnvironment()
{
    const Answer mine =
        shellIn(*m_box, "env | cut -d= -f1 | grep -vx -e _ -e PWD -e OLDPWD -e SHLVL | sort | tr '\\n' ' '");
    QCOMPARE(mine.output, "HOME LANG LOGNAME PATH SHELL TMPDIR TZ USER ");
    const Answer others =
        shellIn(*m_box, "cat /proc/*/environ /proc/*/cmdline 2>/dev/null | grep -ac 'hunter2-[p]lanted'");
    QCOMPARE(others.output, "0\n");
}

void TestBoxConfinement::inheritsNoDescriptor()
{
    // Without O_CLOEXEC, as a careless library opens it; the box is made while it is open.
    const UniqueFd low(::open("/etc/passwd", O_RDONLY));
    const UniqueFd high(::fcntl(low.get(), F_DUPFD, 700));
    auto box = m_boxes.box();
    const Answer answer =
        shellIn(*box, "ls -l /proc/self/fd/ | grep -c -e passwd -e socket: -e memfd; ls /proc/$$/fd | tr '\\n' ' '");
    QCOMPARE(answer.output.substr(0, 2), "0\n");
    QVERIFY2(answer.output.starts_with("0\n0 1 2 "), answer.output.c_str());
}

void TestBoxConfinement::hasNoPrivilege()
{
    const Answer answer = shellIn(
        *m_box, "grep -e ^Cap -e ^NoNewPrivs -e ^Seccomp: -e ^Groups /proc/self/status | tr -d ' \\t' | tr '\\n' ' '");
    QVERIFY2(answer.output.contains("CapInh:0000000000000000 CapPrm:0000000000000000 CapEff:0000000000000000 "
                                    "CapBnd:0000000000000000 CapAmb:0000000000000000 NoNewPrivs:1 Seccomp:2"),
             answer.output.c_str());
    QVERIFY(!shellIn(*m_box, "grep -q '^Groups:.*[0-9]' /proc/self/status && id -G | grep -vx 10001").exitedWith(0));
    QVERIFY(!pythonIn(*m_box, "import os; os.setuid(0)").exitedWith(0));
    QVERIFY(!pythonIn(*m_box, "import os; os.setgroups([0])").exitedWith(0));
    QVERIFY(!pythonIn(*m_box, "import os; os.nice(-5)").exitedWith(0));
}

void TestBoxConfinement::hasNoNetwork()
{
    QCOMPARE(shellIn(*m_box, "grep -c : /proc/net/dev; grep -c lo: /proc/net/dev; wc -l < /proc/net/route").output,
             "1\n1\n1\n");
    QVERIFY(!shellIn(*m_box, "curl -sS --max-time 3 http://127.0.0.1:1/").exitedWith(0));
    QVERIFY(!shellIn(*m_box, "exec 3<>/dev/tcp/127.0.0.1/22").exitedWith(0));
}

void TestBoxConfinement::cannotReachTheHostsAbstractSockets()
{
    const UniqueFd listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
    const std::string name = "assay-test-" + std::to_string(::getpid());
    std::ranges::copy(name, address.sun_path + 1);
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
    QCOMPARE(::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), size), 0);
    QCOMPARE(::listen(listener.get(), 1), 0);
    const UniqueFd fromHere(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    QCOMPARE(::connect(fromHere.get(), reinterpret_cast<const sockaddr*>(&address), size), 0);
    const Answer answer =
        pythonIn(*m_box, "import socket\ns = socket.socket(socket.AF_UNIX)\ntry:\n  s.connect('\\0" + name +
                             "')\n  print('reached')\nexcept ConnectionRefusedError:\n  print('refused')");
    QCOMPARE(answer.output, "refused\n");
}

void TestBoxConfinement::cannotSeeAnotherBox()
{
    auto other = m_boxes.box();
    QVERIFY(shellIn(*other, "echo private > /tmp/mine; echo private > /workspace/mine").exitedWith(0));
    QVERIFY(pythonIn(*other, "import ctypes; print(ctypes.CDLL(None).shmget(4711, 4096, 0o1666))").exitedWith(0));
    QVERIFY(!shellIn(*m_box, "cat /tmp/mine || cat /workspace/mine").exitedWith(0));
    QCOMPARE(pythonIn(*m_box, "import ctypes; print(ctypes.CDLL(None).shmget(4711, 4096, 0o666))").output, "-1\n");
    // Only the init and the command itself are there to be seen.
    QCOMPARE(
        pythonIn(
            *m_box,
            "import os; print(sorted(int(p) == os.getpid() or int(p) for p in os.listdir('/proc') if p.isdigit()))")
            .output,
        "[1, True]\n");
}

void TestBoxConfinement::holdsNoTerminal()
{
    QVERIFY(!pythonIn(*m_box, "import os; os.openpty()").exitedWith(0));
    QVERIFY(!shellIn(*m_box, "tty").exitedWith(0));
}

QTEST_GUILESS_MAIN(TestBoxConfinement)
#include "tst_box_confinement.moc"
