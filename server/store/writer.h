// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/store/connection.h"

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace assay::store {

/// The one thread that writes. Jobs that wait while a commit is on its way to the disk share the next one: each runs in
/// a savepoint of its own, in the order of arrival, and is answered after the commit. Thread-safe.
class Writer
{
public:
    using Work = std::function<Result<void>(Connection&)>;

    struct Limits
    {
        unsigned maxBatch;   ///< jobs in one commit
        unsigned maxWaiting; ///< more are `Unavailable`
    };

    Writer(std::unique_ptr<Connection> connection, Limits limits);
    /// Finishes the jobs that wait, then ends the thread.
    ~Writer();

    /// Runs `work` on the writer's thread; returns after its commit. A job that did not start within `kQueueDeadline`
    /// is taken back: `Unavailable`, and nothing was changed.
    Result<void> submit(const Work& work);

    static constexpr std::chrono::seconds kQueueDeadline{30};
    /// A batch takes no further job after this long, so that the first in it is answered soon.
    static constexpr std::chrono::milliseconds kBatchTime{20};

private:
    struct Job
    {
        const Work* work;
        Result<void> result;
        std::mutex mutex;
        std::condition_variable ended;
        bool isDone = false;
    };
    using JobPointer = std::shared_ptr<Job>;

    void loop();
    JobPointer waitForJob();
    JobPointer takeJob();
    bool takeBack(const JobPointer& job);
    void runBatch(JobPointer first);
    bool runJob(Job& job);
    static Result<void> attempt(const Work& work, Connection& connection);
    static void answer(const JobPointer& job);

    std::unique_ptr<Connection> m_connection;
    const Limits m_limits;
    std::mutex m_mutex;
    std::condition_variable m_arrived;
    std::deque<JobPointer> m_waiting;
    bool m_isStopping = false;
    std::thread m_thread;
};

} // namespace assay::store
