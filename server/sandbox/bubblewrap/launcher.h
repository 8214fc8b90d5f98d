// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/error.h"
#include "server/core/unique_fd.h"
#include "server/sandbox/bubblewrap/launch_child.h"
#include "server/sandbox/bubblewrap/launch_pad.h"

#include <condition_variable>
#include <deque>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

namespace assay::sandbox::bubblewrap {

struct LaunchedProcess
{
    int pid = -1;
    UniqueFd pidfd;
};

/// Starts bubblewrap for everyone from one thread of its own. Two reasons: the kernel sends a child its death signal
/// when the *thread* that started it ends, and the launch pad is a mount namespace that only one thread may be in.
/// The start shares the server's memory (vfork's way), so its cost does not grow with the server. Thread-safe.
class Launcher
{
public:
    /// With `pad` the thread first enters a launch pad (a server that is root); the result is known on return.
    static Result<std::unique_ptr<Launcher>> start(std::optional<PadSources> pad);
    ~Launcher();
    Launcher(const Launcher&) = delete;
    Launcher& operator=(const Launcher&) = delete;

    /// Blocks until bubblewrap was executed or could not be; some 100 microseconds. `plan` and all it points at must
    /// live until then.
    Result<LaunchedProcess> launch(LaunchPlan& plan);

private:
    struct Job
    {
        LaunchPlan* plan;
        std::promise<Result<LaunchedProcess>> done;
    };

    Launcher();
    void serve(std::optional<PadSources> pad, std::promise<Result<void>> ready);
    std::optional<Job> next();
    Result<LaunchedProcess> startChild(LaunchPlan& plan);

    class Stack;
    std::unique_ptr<Stack> m_stack;
    std::mutex m_mutex;
    std::condition_variable m_wake;
    std::deque<Job> m_jobs;
    bool m_stop = false;
    std::thread m_thread;
};

} // namespace assay::sandbox::bubblewrap
