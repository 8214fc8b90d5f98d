// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>

namespace assay::http {

/// Threads for blocking work. Few of them run while jobs are short, so that a hot thread takes job after job; when jobs
/// wait and nothing moves, because the running ones block (a commit, a run somebody waits for), more are added within a
/// millisecond, up to a limit, and go away when they were idle for long. Thread-safe.
class WorkerPool
{
public:
    struct Options
    {
        unsigned baseThreads = 2;
        unsigned maxThreads = 256;
        std::size_t maxQueued = 4096;
        std::size_t stackBytes = 1U << 20; ///< address space; only what is touched costs memory
        std::chrono::milliseconds idle{5'000};
        std::function<void()> whenIdle; ///< called on a worker after a quiet `idle`, for giving memory back
    };

    explicit WorkerPool(Options options);
    /// Runs what is queued and joins all threads.
    ~WorkerPool();
    WorkerPool(const WorkerPool&) = delete;
    WorkerPool& operator=(const WorkerPool&) = delete;

    /// Queues a job, which must not throw. False, and the job unused, when the queue is full or the pool stops.
    [[nodiscard]] bool post(std::move_only_function<void()>&& job);

    unsigned threads() const; ///< alive now

private:
    struct State;
    std::unique_ptr<State> m_state;
};

} // namespace assay::http
