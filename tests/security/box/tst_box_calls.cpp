// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/sandbox_bubblewrap/box_fixture.h"

#include <csignal>
#include <sys/wait.h>

using namespace assay;
using namespace assay::test;

/// System calls that a box must not make, made from inside of one.
class TestBoxCalls : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase() { m_box = m_boxes.box(); }
    void refusesCall_data();
    void refusesCall();
    void allowsWhatProgramsNeed_data();
    void allowsWhatProgramsNeed();
    void killsForeignAbis_data();
    void killsForeignAbis();

private:
    /// Runs a Python expression in which `call(number, ...)` is the raw system call; prints its result or -errno.
    std::string evaluate(const std::string& expression);

    BoxFixture m_boxes;
    std::unique_ptr<sandbox::BoxHandle> m_box;
};

std::string TestBoxCalls::evaluate(const std::string& expression)
{
    const Answer answer = pythonIn(*m_box, R"(
import ctypes, os, socket, struct, errno
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def call(number, *words):
    result = libc.syscall(ctypes.c_long(number), *[w if isinstance(w, bytes) else ctypes.c_ulong(w & (2**64 - 1)) for w in words])
    return result if result >= 0 else -ctypes.get_errno()
def forked(number, *words):
    result = call(number, *words)
    if result == 0: os._exit(0)
    return result
buffer = b'\0' * 256
result = )" + expression + R"(
print(result if result >= 0 else errno.errorcode[-result]))");
    if (!answer.exitedWith(0))
        return "status " + std::to_string(answer.status) + ": " + answer.output;
    return answer.output.substr(0, answer.output.find('\n'));
}

namespace {

struct Attempt
{
    const char* name;
    const char* expression;
    const char* answer = "EPERM";
};

constexpr Attempt kAttempts[] = {
    {"mount", "call(165, b'x', b'/tmp', b'tmpfs', 0, 0)"},
    {"umount", "call(166, b'/tmp', 2)"},
    {"pivot_root", "call(155, b'/tmp', b'/tmp')"},
    {"chroot", "call(161, b'/tmp')"},
    {"fsopen", "call(430, b'tmpfs', 0)"},
    {"open_tree", "call(428, -100, b'/', 1)"},
    {"move_mount", "call(429, 0, b'', -100, b'/tmp', 4)"},
    {"mount_setattr", "call(442, -100, b'/', 0, buffer, 32)"},
    {"setns", "call(308, 0, 0)"},
    {"unshare user", "call(272, 0x10000000)"},
    {"unshare mounts", "call(272, 0x20000)"},
    {"unshare nothing", "call(272, 0)"},
    {"clone user", "forked(56, 0x10000000 | 17, 0, 0, 0, 0)"},
    {"clone mounts", "forked(56, 0x20000 | 17, 0, 0, 0, 0)"},
    {"clone network", "forked(56, 0x40000000 | 17, 0, 0, 0, 0)"},
    {"clone user, high bits", "forked(56, 0x5_10000000 | 17, 0, 0, 0, 0)"},
    {"clone3", "forked(435, struct.pack('<QQQQQQQQ', 0x10000000, 0, 0, 0, 17, 0, 0, 0), 64)", "ENOSYS"},
    {"ptrace", "call(101, 16, 1, 0, 0)"},
    {"ptrace traceme", "call(101, 0, 0, 0, 0)"},
    {"process_vm_readv", "call(310, 1, buffer, 1, buffer, 1, 0)"},
    {"process_vm_writev", "call(311, 1, buffer, 1, buffer, 1, 0)"},
    {"pidfd_getfd", "call(438, 0, 0, 0)"},
    {"kcmp", "call(312, 1, os.getpid(), 0, 0, 0)"},
    {"add_key", "call(248, b'user', b'x', b'x', 1, -3 & 0xffffffff)"},
    {"request_key", "call(249, b'user', b'x', 0, 0)"},
    {"keyctl", "call(250, 0, -3 & 0xffffffff, 1)"},
    {"io_uring_setup", "call(425, 1, buffer)"},
    {"io_setup", "call(206, 1, buffer)"},
    {"bpf", "call(321, 0, buffer, 64)"},
    {"perf_event_open", "call(298, buffer, 0, -1, -1, 0)"},
    {"userfaultfd", "call(323, 0)"},
    {"fanotify_init", "call(300, 0, 0)"},
    {"open_by_handle_at", "call(304, -100, buffer, 0)"},
    {"name_to_handle_at", "call(303, -100, b'/', buffer, buffer, 0)"},
    {"memfd_secret", "call(447, 0)"},
    {"modify_ldt", "call(154, 0, buffer, 16)"},
    {"move_pages", "call(279, 1, 0, 0, 0, 0, 0)"},
    {"kexec_load", "call(246, 0, 0, 0, 0)"},
    {"init_module", "call(175, buffer, 1, b'')"},
    {"finit_module", "call(313, 0, b'', 0)"},
    {"delete_module", "call(176, b'x', 0)"},
    {"reboot", "call(169, 0xfee1dead, 672274793, 0, 0)"},
    {"swapon", "call(167, b'/tmp', 0)"},
    {"acct", "call(163, 0)"},
    {"quotactl", "call(179, 0, 0, 0, 0)"},
    {"settimeofday", "call(164, buffer, 0)"},
    {"clock_settime", "call(227, 0, buffer)"},
    {"adjtimex", "call(159, buffer)"},
    {"sethostname", "call(170, b'x', 1)"},
    {"iopl", "call(172, 3)"},
    {"syslog", "call(103, 3, buffer, 10)"},
    {"vhangup", "call(153)"},
    {"lookup_dcookie", "call(212, 0, buffer, 10)"},
    {"personality without ASLR", "call(135, 0x0040000)", "ENOSYS"},
    {"prlimit of init", "call(302, 1, 7, 0, buffer)", "ENOSYS"},
    {"prlimit of init, high bits", "call(302, 0x1_00000001, 7, 0, buffer)", "ENOSYS"},
    {"affinity of init", "call(203, 1, 8, buffer)", "ENOSYS"},
    {"socket inet", "call(41, 2, 1, 0)", "EAFNOSUPPORT"},
    {"socket inet6", "call(41, 10, 1, 0)", "EAFNOSUPPORT"},
    {"socket netlink", "call(41, 16, 3, 0)", "EAFNOSUPPORT"},
    {"socket packet", "call(41, 17, 3, 0)", "EAFNOSUPPORT"},
    {"socket alg", "call(41, 38, 5, 0)", "EAFNOSUPPORT"},
    {"socket vsock", "call(41, 40, 1, 0)", "EAFNOSUPPORT"},
    {"socket alg, high bits", "call(41, 0x1_00000026, 5, 0)", "EAFNOSUPPORT"},
    {"socket far family", "call(41, 200, 1, 0)", "ENOSYS"},
    {"socketpair tipc", "call(53, 30, 1, 0, buffer)", "ENOSYS"},
    {"TIOCSTI", "call(16, 0, 0x5412, b'x')"},
    {"TIOCSTI, high bits", "call(16, 0, 0x1_00005412, b'x')"},
    {"TIOCLINUX", "call(16, 0, 0x541c, b'x')"},
    {"TIOCLINUX, high bits", "call(16, 0, 0xffffffff_0000541c, b'x')"},
    {"a call of the future", "call(5000)", "ENOSYS"},
};

} // namespace

void TestBoxCalls::refusesCall_data()
{
    QTest::addColumn<QString>("expression");
    QTest::addColumn<QString>("answer");
    for (const Attempt& attempt : kAttempts)
        QTest::newRow(attempt.name) << QString(attempt.expression) << QString(attempt.answer);
}

void TestBoxCalls::refusesCall()
{
    QFETCH(QString, expression);
    QFETCH(QString, answer);
    QCOMPARE(QString::fromStdString(evaluate(expression.toStdString())), answer);
}

void TestBoxCalls::allowsWhatProgramsNeed_data()
{
    QTest::addColumn<QString>("command");
    QTest::addColumn<QString>("output");
    QTest::newRow("threads")
        << "python3 -c 'import threading as t; x=t.Thread(target=lambda: print(1)); x.start(); x.join()'" << "1";
    QTest::newRow("subprocess")
        << "python3 -c 'import subprocess as s; print(s.check_output([\"echo\",\"2\"]).decode(),end=\"\")'" << "2";
    QTest::newRow("asyncio") << "python3 -c 'import asyncio; print(asyncio.run(asyncio.sleep(0, 3)))'" << "3";
    QTest::newRow("node") << "node -e 'setTimeout(()=>console.log(4),1)'" << "4";
    QTest::newRow("node workers")
        << "node -e 'new (require(\"worker_threads\").Worker)(\"console.log(5)\",{eval:true})'" << "5";
    QTest::newRow("node child")
        << "node -e 'console.log(require(\"child_process\").execSync(\"echo 6\").toString().trim())'" << "6";
    QTest::newRow("bash pipes") << "bash -c 'cat <(echo 7) | tail -n 1'" << "7";
    QTest::newRow("git") << "cd /tmp && git init -q r && cd r && git -c user.name=a -c user.email=a@b commit -q "
                            "--allow-empty -m x && git log --oneline | wc -l"
                         << "1";
    QTest::newRow("jq") << "echo '{\"a\":8}' | jq .a" << "8";
    QTest::newRow("ripgrep") << "echo needle > /tmp/h; rg -c needle /tmp/h" << "1";
    QTest::newRow("sqlite in python")
        << "python3 -c 'import sqlite3; print(sqlite3.connect(\"/tmp/d\").execute(\"select 9\").fetchone()[0])'" << "9";
    QTest::newRow("affinity of oneself")
        << "python3 -c 'import os; os.sched_setaffinity(0, os.sched_getaffinity(0)); print(10)'" << "10";
    QTest::newRow("a UNIX socket")
        << "python3 -c 'import socket as s; a,b=s.socketpair(); a.send(b\"11\"); print(b.recv(9).decode())'" << "11";
}

void TestBoxCalls::allowsWhatProgramsNeed()
{
    QFETCH(QString, command);
    QFETCH(QString, output);
    const Answer answer = shellIn(*m_box, command.toStdString());
    QCOMPARE(QString::fromStdString(answer.output).trimmed(), output);
    QVERIFY(answer.exitedWith(0));
}

void TestBoxCalls::killsForeignAbis_data()
{
    QTest::addColumn<QString>("code");
    // mov eax, number; int 0x80 or syscall; ret
    QTest::newRow("i386 getpid") << "b8 14 00 00 00 cd 80 c3";
    QTest::newRow("i386 mount") << "b8 15 00 00 00 cd 80 c3";
    QTest::newRow("x32 getpid") << "b8 27 00 00 40 0f 05 c3";
}

void TestBoxCalls::killsForeignAbis()
{
    QFETCH(QString, code);
    const Answer answer = pythonIn(*m_box, R"(
import ctypes, mmap
memory = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
memory.write(bytes.fromhex(')" + code.toStdString() +
                                               R"('))
entry = ctypes.addressof(ctypes.c_char.from_buffer(memory))
print('survived', ctypes.CFUNCTYPE(ctypes.c_long)(entry)()))");
    QVERIFY2(!answer.lost && WIFSIGNALED(answer.status) && WTERMSIG(answer.status) == SIGSYS, answer.output.c_str());
}

QTEST_GUILESS_MAIN(TestBoxCalls)
#include "tst_box_calls.moc"
