// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/sandbox/box.h"

#include <csignal>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

namespace assay::test {

/// The real `assay-init` behind a socket pair, without a driver: started bare (then it is a child subreaper), or as
/// process 1 of a namespace of its own by a plain bubblewrap. Counters are what a test says they are.
class LiveInit final : public sandbox::BoxHandle
{
public:
    /// Bare, with `workspace` as its workspace on the test's own file system.
    static std::unique_ptr<LiveInit> bare() { return start({ASSAY_BIN_DIR "/assay-init"}); }

    /// In a box: /workspace of `workspaceBytes`, /skills from `skills` (read-only) when given.
    static std::unique_ptr<LiveInit> boxed(std::uint64_t workspaceBytes, const std::string& skills = {})
    {
        std::vector<std::string> line{"bwrap",         "--unshare-all", "--as-pid-1", "--die-with-parent",
                                      "--new-session", "--clearenv",    "--uid",      "10001",
                                      "--gid",         "10001",         "--cap-drop", "ALL",
                                      "--ro-bind",     "/usr",          "/usr",       "--symlink",
                                      "usr/bin",       "/bin",          "--symlink",  "usr/lib",
                                      "/lib",          "--symlink",     "usr/lib64",  "/lib64",
                                      "--proc",        "/proc",         "--dev",      "/dev",
                                      "--tmpfs",       "/tmp",          "--size",     std::to_string(workspaceBytes),
                                      "--tmpfs",       "/workspace",    "--dir",      "/workspace/out"};
        if (!skills.empty())
            line.insert(line.end(), {"--ro-bind", skills, "/skills"});
        line.insert(line.end(),
                    {"--ro-bind", ASSAY_BIN_DIR "/assay-init", "/.assay/init", "--remount-ro", "/", "/.assay/init"});
        return start(line);
    }

    ~LiveInit() override { (void)destroy(); }

    int channel() const override { return m_channel.get(); }
    void kill() override
    {
        if (m_pid > 0 && obeysKill)
            ::kill(m_pid, SIGKILL);
    }
    sandbox::BoxMeter meter() const override { return nextMeter; }
    Result<void> destroy() override
    {
        m_channel.reset();
        if (m_pid > 0)
            exitStatus = waitForEnd(5000);
        return {};
    }

    /// Waits for the program's end; kills it after the patience. The raw wait status.
    int waitForEnd(int patienceMs)
    {
        int status = -1;
        for (int waited = 0; ::waitpid(m_pid, &status, WNOHANG) == 0; ++waited) {
            if (waited == patienceMs)
                ::kill(m_pid, SIGKILL);
            ::usleep(1000);
        }
        m_pid = -1;
        return status;
    }

    pid_t pid() const { return m_pid; }

    sandbox::BoxMeter nextMeter; ///< what `meter` answers
    bool obeysKill = true;
    int exitStatus = -1;

private:
    static std::unique_ptr<LiveInit> start(const std::vector<std::string>& line)
    {
        int ends[2];
        if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
            return nullptr;
        auto live = std::make_unique<LiveInit>();
        live->m_channel.reset(ends[0]);
        const UniqueFd theirs(ends[1]);
        std::vector<char*> arguments;
        for (const std::string& word : line)
            arguments.push_back(const_cast<char*>(word.c_str()));
        arguments.push_back(nullptr);
        posix_spawn_file_actions_t actions;
        ::posix_spawn_file_actions_init(&actions);
        ::posix_spawn_file_actions_adddup2(&actions, theirs.get(), 0);
        ::posix_spawn_file_actions_adddup2(&actions, theirs.get(), 1);
        // Planted: neither the variable nor the descriptor may reach a command.
        const UniqueFd stray(::open("/dev/null", O_RDONLY));
        char secret[] = "ASSAY_SECRET_OF_THE_SERVER=1";
        char path[] = "PATH=/usr/bin:/bin";
        char* environment[] = {path, secret, nullptr};
        const int failed = ::posix_spawnp(&live->m_pid, arguments[0], &actions, nullptr, arguments.data(), environment);
        ::posix_spawn_file_actions_destroy(&actions);
        return failed == 0 ? std::move(live) : nullptr;
    }

    UniqueFd m_channel;
    pid_t m_pid = -1;
};

/// Keeps what it is given, in order.
struct RecordingSink final : sandbox::OutputSink
{
    void onOutput(const sandbox::OutputChunk& chunk) override
    {
        (chunk.stream == sandbox::OutputStream::Stdout ? out : err).append(chunk.bytes);
        sequence.push_back(chunk.seq);
        if (onChunk)
            onChunk(chunk);
    }

    std::string out;
    std::string err;
    std::vector<std::uint64_t> sequence;
    std::function<void(const sandbox::OutputChunk&)> onChunk;
};

inline sandbox::Command shell(const std::string& script)
{
    sandbox::Command command;
    command.argv = {"sh", "-c", script};
    command.limits.wall = std::chrono::seconds(30);
    return command;
}

inline sandbox::Command python(const std::string& script)
{
    sandbox::Command command = shell({});
    command.argv = {"python3", "-I", "-c", script};
    return command;
}

} // namespace assay::test
