// SPDX-License-Identifier: Apache-2.0
#include "server/http/worker_pool.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <list>
#include <mutex>
#include <pthread.h>
#include <thread>
#include <vector>

namespace assay::http {

namespace {

using Clock = std::chrono::steady_clock;

/// Below this many jobs a millisecond the running threads are taken to be blocked.
constexpr std::uint64_t kMovingJobsPerTick = 8;
constexpr auto kTick = std::chrono::milliseconds(1);
constexpr auto kDecay = std::chrono::milliseconds(100);

} // namespace

struct WorkerPool::State
{
    struct Worker
    {
        State* pool = nullptr;
        pthread_t thread{};
        std::condition_variable wakeUp;
        bool woken = false;
    };

    explicit State(Options given) : options(std::move(given)), target(options.baseThreads) {}

    void wakeOne();
    bool spawn();
    void work(Worker& self);
    bool rest(Worker& self, std::unique_lock<std::mutex>& lock);
    void retire(Worker& self);
    void monitor();
    void adapt(std::uint64_t startedBefore, Clock::duration elapsed);
    void decay();
    void joinFinished(std::unique_lock<std::mutex>& lock);
    void stop();

    Options options;
    mutable std::mutex mutex;
    std::deque<std::move_only_function<void()>> queue;
    std::list<Worker> workers;  ///< alive
    std::list<Worker> finished; ///< to be joined
    std::vector<Worker*> idle;  ///< the last one rests the shortest and is woken first
    std::condition_variable monitorWakeUp;
    std::thread monitorThread;
    unsigned target;     ///< how many may be active before jobs wait
    unsigned active = 0; ///< not idle
    unsigned peak = 0;   ///< of `active` since the last decay
    std::uint64_t started = 0;
    std::uint64_t startedAtDecay = 0;
    Clock::time_point lastDecay = Clock::now();
    bool monitorAsleep = false;
    bool quietDone = true; ///< `whenIdle` was called since the last job
    bool stopping = false;
};

void WorkerPool::State::wakeOne()
{
    if (idle.empty()) {
        if (workers.size() < options.maxThreads && spawn())
            ++active;
    } else {
        Worker& worker = *idle.back();
        idle.pop_back();
        worker.woken = true;
        ++active;
        worker.wakeUp.notify_one();
    }
    peak = std::max(peak, active);
}

bool WorkerPool::State::spawn()
{
    Worker& worker = workers.emplace_back();
    worker.pool = this;
    pthread_attr_t attributes;
    ::pthread_attr_init(&attributes);
    ::pthread_attr_setstacksize(&attributes, options.stackBytes);
    const auto body = [](void* given) -> void* {
        auto& self = *static_cast<Worker*>(given);
        self.pool->work(self);
        return nullptr;
    };
    const int error = ::pthread_create(&worker.thread, &attributes, body, &worker);
    ::pthread_attr_destroy(&attributes);
    if (error != 0)
        workers.pop_back(); // the threads that live go on; the queue waits for them
    return error == 0;
}

void WorkerPool::State::work(Worker& self)
{
    ::pthread_setname_np(::pthread_self(), "assay-work");
    std::unique_lock lock(mutex);
    for (;;) {
        if (!queue.empty()) {
            auto job = std::move(queue.front());
            queue.pop_front();
            ++started;
            quietDone = false;
            lock.unlock();
            job();
            job = nullptr;
            lock.lock();
        } else if (stopping || !rest(self, lock)) {
            break;
        }
    }
    --active;
    retire(self);
}

/// False when the worker has nothing more to do here. Idle workers do not count as active.
bool WorkerPool::State::rest(Worker& self, std::unique_lock<std::mutex>& lock)
{
    --active;
    idle.push_back(&self);
    while (!self.woken && !stopping) {
        if (self.wakeUp.wait_for(lock, options.idle) != std::cv_status::timeout || self.woken || stopping)
            continue;
        if (workers.size() > options.baseThreads)
            break;
        if (!quietDone && active == 0 && options.whenIdle) {
            quietDone = true;
            lock.unlock();
            options.whenIdle();
            lock.lock();
        }
    }
    if (self.woken) {
        self.woken = false;
        return true;
    }
    std::erase(idle, &self);
    ++active;
    return false;
}

void WorkerPool::State::retire(Worker& self)
{
    const auto found = std::ranges::find_if(workers, [&](const Worker& worker) { return &worker == &self; });
    finished.splice(finished.end(), workers, found);
    monitorWakeUp.notify_one();
}

void WorkerPool::State::monitor()
{
    ::pthread_setname_np(::pthread_self(), "assay-pool");
    std::unique_lock lock(mutex);
    while (!stopping) {
        joinFinished(lock);
        const bool waiting = !queue.empty() && !stopping;
        const auto before = started;
        const auto since = Clock::now();
        monitorAsleep = !waiting;
        if (waiting)
            monitorWakeUp.wait_for(lock, kTick);
        else if (target > options.baseThreads)
            monitorWakeUp.wait_for(lock, kDecay);
        else if (finished.empty() && !stopping)
            monitorWakeUp.wait(lock);
        monitorAsleep = false;
        if (waiting)
            adapt(before, Clock::now() - since);
        if (Clock::now() - lastDecay >= kDecay)
            decay();
    }
}

void WorkerPool::State::adapt(std::uint64_t startedBefore, Clock::duration elapsed)
{
    const auto moved = started - startedBefore;
    // When this thread itself was woken late, the processors are short, and more threads would not help.
    const bool processorsAreShort = elapsed > 3 * kTick && moved > 0;
    if (queue.empty() || processorsAreShort || moved >= kMovingJobsPerTick)
        return;
    const auto wanted = std::min<std::size_t>(target + queue.size(), 2 * target);
    target = static_cast<unsigned>(std::min<std::size_t>(wanted, options.maxThreads));
    for (std::size_t i = queue.size(); i > 0 && active < target; --i)
        wakeOne();
}

void WorkerPool::State::decay()
{
    const auto ticks = static_cast<std::uint64_t>((Clock::now() - lastDecay) / kTick);
    const bool jobsAreShort = started - startedAtDecay >= ticks * kMovingJobsPerTick;
    const unsigned wanted = jobsAreShort ? target / 2 : peak;
    target = std::max(options.baseThreads, std::min(target, wanted));
    peak = active;
    startedAtDecay = started;
    lastDecay = Clock::now();
}

void WorkerPool::State::joinFinished(std::unique_lock<std::mutex>& lock)
{
    while (!finished.empty()) {
        std::list<Worker> gone;
        gone.splice(gone.end(), finished);
        lock.unlock();
        for (Worker& worker : gone)
            ::pthread_join(worker.thread, nullptr);
        lock.lock();
    }
}

void WorkerPool::State::stop()
{
    {
        const std::scoped_lock lock(mutex);
        stopping = true;
        if (!queue.empty() && workers.empty())
            wakeOne();
        for (Worker* worker : idle)
            worker->wakeUp.notify_one();
        monitorWakeUp.notify_one();
    }
    monitorThread.join();
    std::unique_lock lock(mutex);
    while (!workers.empty() || !finished.empty()) {
        joinFinished(lock);
        if (!workers.empty())
            monitorWakeUp.wait(lock, [&] { return !finished.empty(); });
    }
}

WorkerPool::WorkerPool(Options options) : m_state(std::make_unique<State>(std::move(options)))
{
    m_state->monitorThread = std::thread([state = m_state.get()] { state->monitor(); });
}

WorkerPool::~WorkerPool() { m_state->stop(); }

bool WorkerPool::post(std::move_only_function<void()>&& job)
{
    State& state = *m_state;
    const std::scoped_lock lock(state.mutex);
    if (state.stopping || state.queue.size() >= state.options.maxQueued)
        return false;
    state.queue.push_back(std::move(job));
    if (state.active < state.target)
        state.wakeOne();
    else if (state.monitorAsleep)
        state.monitorWakeUp.notify_one();
    return true;
}

unsigned WorkerPool::threads() const
{
    const std::scoped_lock lock(m_state->mutex);
    return static_cast<unsigned>(m_state->workers.size());
}

} // namespace assay::http
