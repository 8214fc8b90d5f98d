// SPDX-License-Identifier: Apache-2.0
// Process 1 of the boxes of these tests: as little as a test of the driver needs. On descriptor 0 it reads a u32 length
// and NUL-ended words, runs them with their output on one pipe, and answers u32 wait status, u32 length, output.
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

constexpr std::uint32_t kMaxRequest = 64U << 10;
constexpr std::uint32_t kMaxAnswer = 4U << 20;
char request[kMaxRequest + 1];
char answer[kMaxAnswer];

bool readAll(int fd, void* to, std::size_t size)
{
    auto* at = static_cast<char*>(to);
    while (size > 0) {
        const ssize_t got = read(fd, at, size);
        if (got <= 0)
            return false;
        at += got;
        size -= static_cast<std::size_t>(got);
    }
    return true;
}

void writeAll(int fd, const void* from, std::size_t size)
{
    const auto* at = static_cast<const char*>(from);
    while (size > 0) {
        const ssize_t wrote = write(fd, at, size);
        if (wrote <= 0)
            _exit(3);
        at += wrote;
        size -= static_cast<std::size_t>(wrote);
    }
}

void runCommand(std::uint32_t size, int output)
{
    char* words[512] = {};
    std::size_t count = 0;
    for (std::uint32_t at = 0; at < size && count < 511; at += static_cast<std::uint32_t>(strlen(request + at)) + 1)
        words[count++] = request + at;
    dup2(open("/dev/null", O_RDONLY), 0);
    dup2(output, 1);
    dup2(output, 2);
    syscall(SYS_close_range, 3U, ~0U, 0U);
    setsid();
    execvp(words[0], words);
    _exit(127);
}

void serve(std::uint32_t size)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        _exit(4);
    const pid_t child = fork();
    if (child == 0)
        runCommand(size, ends[1]);
    close(ends[1]);
    std::uint32_t total = 0;
    while (total < kMaxAnswer) {
        const ssize_t got = read(ends[0], answer + total, kMaxAnswer - total);
        if (got <= 0)
            break;
        total += static_cast<std::uint32_t>(got);
    }
    close(ends[0]);
    int status = -1;
    if (child > 0)
        while (waitpid(child, &status, 0) != child && errno == EINTR) {
        }
    kill(-1, SIGKILL);
    while (waitpid(-1, nullptr, 0) > 0) {
    }
    const std::uint32_t head[2] = {static_cast<std::uint32_t>(status), total};
    writeAll(1, head, sizeof head);
    writeAll(1, answer, total);
}

} // namespace

int main(int count, char** words)
{
    // The driver's soft limits, as assay-init takes them.
    if (count == 4) {
        const rlimit processes{strtoull(words[2], nullptr, 10), strtoull(words[2], nullptr, 10)};
        const rlimit data{strtoull(words[3], nullptr, 10), strtoull(words[3], nullptr, 10)};
        setrlimit(RLIMIT_NPROC, &processes);
        setrlimit(RLIMIT_DATA, &data);
    }
    prctl(PR_SET_DUMPABLE, 0);
    syscall(SYS_close_range, 2U, ~0U, 0U);
    std::uint32_t size = 0;
    while (readAll(0, &size, sizeof size) && size <= kMaxRequest && readAll(0, request, size)) {
        request[size] = 0;
        serve(size);
    }
    kill(-1, SIGKILL);
    return 0;
}
