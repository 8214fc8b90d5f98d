// SPDX-License-Identifier: Apache-2.0
#include "server/sandbox/bubblewrap/launcher.h"

#include <cerrno>
#include <csignal>
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>

namespace assay::sandbox::bubblewrap {

namespace {

constexpr std::size_t kStackBytes = 256U << 10;

/// A signal handler of the server must not run in the child, which shares its memory.
void blockSignals()
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, nullptr);
}

} // namespace

/// The child's stack, with a page below it that faults.
class Launcher::Stack
{
public:
    Stack()
        : m_memory(::mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0))
    {
        if (valid())
            ::mprotect(m_memory, 4096, PROT_NONE);
    }
    ~Stack()
    {
        if (valid())
            ::munmap(m_memory, kStackBytes);
    }
    Stack(const Stack&) = delete;
    Stack& operator=(const Stack&) = delete;
    bool valid() const { return m_memory != MAP_FAILED; }
    void* top() const { return static_cast<char*>(m_memory) + kStackBytes; }

private:
    void* m_memory;
};

Launcher::Launcher() : m_stack(std::make_unique<Stack>()) {}

Result<std::unique_ptr<Launcher>> Launcher::start(std::optional<PadSources> pad)
{
    std::unique_ptr<Launcher> launcher(new Launcher);
    if (!launcher->m_stack->valid())
        return failErrno("map a stack for the launcher", errno);
    std::promise<Result<void>> ready;
    auto entered = ready.get_future();
    launcher->m_thread = std::thread(&Launcher::serve, launcher.get(), std::move(pad), std::move(ready));
    if (auto result = entered.get(); !result)
        return forward(result);
    return launcher;
}

Launcher::~Launcher()
{
    {
        const std::scoped_lock lock(m_mutex);
        m_stop = true;
    }
    m_wake.notify_all();
    if (m_thread.joinable())
        m_thread.join();
}

Result<LaunchedProcess> Launcher::launch(LaunchPlan& plan)
{
    Job job{&plan, {}};
    auto done = job.done.get_future();
    {
        const std::scoped_lock lock(m_mutex);
        m_jobs.push_back(std::move(job));
    }
    m_wake.notify_one();
    return done.get();
}

void Launcher::serve(std::optional<PadSources> pad, std::promise<Result<void>> ready)
{
    blockSignals();
    ::pthread_setname_np(::pthread_self(), "box-launcher");
    auto entered = pad ? enterLaunchPad(*pad) : Result<void>();
    const bool usable = entered.has_value();
    ready.set_value(std::move(entered));
    while (usable) {
        auto job = next();
        if (!job)
            return;
        job->done.set_value(startChild(*job->plan));
    }
}

std::optional<Launcher::Job> Launcher::next()
{
    std::unique_lock lock(m_mutex);
    m_wake.wait(lock, [this] { return m_stop || !m_jobs.empty(); });
    if (m_jobs.empty())
        return std::nullopt;
    Job job = std::move(m_jobs.front());
    m_jobs.pop_front();
    return job;
}

Result<LaunchedProcess> Launcher::startChild(LaunchPlan& plan)
{
    int pidfd = -1;
    plan.parent = ::getpid();
    const int pid =
        ::clone(&runLaunchChild, m_stack->top(), CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD, &plan, &pidfd);
    if (pid < 0)
        return failErrno("clone a child for bubblewrap", errno);
    LaunchedProcess process{pid, UniqueFd(pidfd)};
    if (!plan.failedStep)
        return process;
    siginfo_t info{};
    ::waitid(P_PIDFD, static_cast<id_t>(pidfd), &info, WEXITED);
    return failErrno(std::string("start bubblewrap: ") + plan.failedStep, plan.failedErrno);
}

} // namespace assay::sandbox::bubblewrap
