// SPDX-License-Identifier: Apache-2.0
#include "server/sandbox/base/program.h"

#include "server/core/file_io.h"
#include "server/core/unique_fd.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace assay::sandbox::base {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMaxLine = 4096;
constexpr std::size_t kMaxTail = 2048;
constexpr std::size_t kMaxInput = 64U << 10;
constexpr int kPollMilliseconds = 100;
/// mmdebstrap unmounts what it mounted when it is asked to end; killed, it leaves that behind.
constexpr auto kPoliteness = std::chrono::seconds(20);

std::vector<char*> pointers(const std::vector<std::string>& words)
{
    std::vector<char*> out;
    for (const std::string& word : words)
        out.push_back(const_cast<char*>(word.c_str()));
    out.push_back(nullptr);
    return out;
}

Result<void> openPipe(std::array<UniqueFd, 2>& ends)
{
    int fds[2] = {-1, -1};
    if (::pipe2(fds, O_CLOEXEC) != 0)
        return failErrno("pipe", errno);
    ends[0].reset(fds[0]);
    ends[1].reset(fds[1]);
    return {};
}

class Lines
{
public:
    explicit Lines(const Program& program) : m_program(program) {}

    /// False at the end of the output.
    bool read(int fd)
    {
        std::array<char, 4096> piece;
        const ssize_t got = ::read(fd, piece.data(), piece.size());
        if (got < 0)
            return errno == EINTR || errno == EAGAIN;
        for (const char c : std::string_view(piece.data(), static_cast<std::size_t>(got)))
            add(c);
        return got > 0;
    }

    const std::string& tail() const { return m_tail; }

private:
    void add(char c)
    {
        if (c != '\n' && c != '\r' && m_line.size() < kMaxLine) {
            m_line += c;
            return;
        }
        if (m_line.empty())
            return;
        if (m_program.onLine)
            m_program.onLine(m_line);
        m_tail += m_line + "; ";
        if (m_tail.size() > kMaxTail)
            m_tail.erase(0, m_tail.size() - kMaxTail);
        m_line.clear();
    }

    const Program& m_program;
    std::string m_line;
    std::string m_tail;
};

Result<pid_t> spawn(const Program& program, int input, int output)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawnattr_init(&attributes);
    ::posix_spawn_file_actions_adddup2(&actions, input, 0);
    ::posix_spawn_file_actions_adddup2(&actions, output, 1);
    ::posix_spawn_file_actions_adddup2(&actions, output, 2);
    sigset_t all;
    sigset_t none;
    sigfillset(&all);
    sigemptyset(&none);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    ::posix_spawnattr_setsigdefault(&attributes, &all);
    ::posix_spawnattr_setsigmask(&attributes, &none);
    pid_t pid = -1;
    const int error = ::posix_spawnp(&pid, program.argv.front().c_str(), &actions, &attributes,
                                     pointers(program.argv).data(), pointers(program.environment).data());
    ::posix_spawn_file_actions_destroy(&actions);
    ::posix_spawnattr_destroy(&attributes);
    if (error == ENOENT)
        return fail(ErrorCode::Unavailable,
                    "the program " + program.argv.front() + " is missing; install the package of that name");
    if (error != 0)
        return failErrno("start " + program.argv.front(), error);
    return pid;
}

int endGroup(pid_t pid)
{
    ::kill(-pid, SIGTERM);
    int status = 0;
    for (const auto until = Clock::now() + kPoliteness; Clock::now() < until;) {
        if (::waitpid(pid, &status, WNOHANG) == pid) {
            ::kill(-pid, SIGKILL);
            return status;
        }
        ::poll(nullptr, 0, kPollMilliseconds);
    }
    ::kill(-pid, SIGKILL);
    ::waitpid(pid, &status, 0);
    return status;
}

} // namespace

Result<void> runProgram(const Program& program)
{
    std::array<UniqueFd, 2> input;
    std::array<UniqueFd, 2> output;
    if (program.input.size() >= kMaxInput)
        return fail(ErrorCode::TooLarge, "too much input for " + program.argv.front());
    if (auto made = openPipe(input).and_then([&] { return openPipe(output); }); !made)
        return made;
    auto pid = spawn(program, input[0].get(), output[1].get());
    if (!pid)
        return forward(pid);
    output[1].reset();
    // A pipe holds it all: nobody has to read for this to return.
    const auto given = writeAll(input[1].get(), program.input);
    input[1].reset();
    input[0].reset();
    Lines lines(program);
    for (bool open = given.has_value(); open;) {
        pollfd watched{output[0].get(), POLLIN, 0};
        if (::poll(&watched, 1, kPollMilliseconds) > 0)
            open = lines.read(output[0].get());
        const bool late = Clock::now() >= program.deadline;
        if (!late && !program.cancel.stop_requested())
            continue;
        endGroup(*pid);
        return late ? fail(ErrorCode::Timeout, program.argv.front() + " did not end in time", lines.tail())
                    : fail(ErrorCode::Cancelled, program.argv.front() + " was cancelled");
    }
    int status = 0;
    while (::waitpid(*pid, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return {};
    return fail(ErrorCode::Unavailable, program.argv.front() + " failed: " + lines.tail(), lines.tail());
}

} // namespace assay::sandbox::base
