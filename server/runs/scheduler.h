// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/error.h"
#include "server/runs/fair_queue.h"

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace assay::runs {

/// Runs jobs on at most `maxLive` threads, at most `maxLivePerScope` of one scope at once, fair between scopes, with a
/// bounded queue. A job is a whole run: it holds its thread while its box lives. Threads are started when they are
/// needed and joined on destruction. Thread-safe.
class Scheduler
{
public:
    struct Limits
    {
        unsigned maxLive = 16;
        unsigned maxLivePerScope = 16;
        unsigned maxQueued = 256;
    };
    explicit Scheduler(Limits limits) : m_limits(limits) {}
    ~Scheduler();

    /// Whether a job more would have to be refused; only a forecast.
    bool isFull() const;
    /// Takes a job; its ticket. `Refused` with `queue_full` when as many wait as may, `Unavailable` after `close`.
    Result<std::uint64_t> submit(const std::string& scope, std::function<void()> work);
    /// Takes a waiting job out again; false when it has started, ended or never was.
    bool withdraw(const std::string& scope, std::uint64_t ticket);
    /// Takes no more jobs. Waiting ones are still run unless withdrawn.
    void close();

    struct Load
    {
        unsigned live = 0;
        unsigned queued = 0;
    };
    Load load() const;

private:
    void work();
    bool mayStart(const std::string& scope) const;
    Error fullError() const;

    const Limits m_limits;
    mutable std::mutex m_mutex;
    std::condition_variable m_wake;
    FairQueue m_queue;
    std::map<std::string, unsigned> m_livePerScope;
    unsigned m_live = 0;
    unsigned m_idle = 0;
    std::uint64_t m_nextTicket = 0;
    bool m_closed = false;
    std::vector<std::jthread> m_threads;
};

} // namespace assay::runs
