// SPDX-License-Identifier: Apache-2.0
#include "server/runs/scheduler.h"

#include <format>

namespace assay::runs {

Scheduler::~Scheduler()
{
    close();
    m_threads.clear(); // joins
}

void Scheduler::close()
{
    const std::lock_guard lock(m_mutex);
    m_closed = true;
    m_wake.notify_all();
}

bool Scheduler::isFull() const
{
    const std::lock_guard lock(m_mutex);
    return m_queue.size() >= m_limits.maxQueued;
}

Error Scheduler::fullError() const
{
    return Error{.code = ErrorCode::Refused,
                 .message = std::format("{} runs wait for a box, and no more may; the limit is {}; try again when some "
                                        "have ended",
                                        m_queue.size(), m_limits.maxQueued),
                 .detail = {},
                 .reason = "queue_full",
                 .problems = {}};
}

Result<std::uint64_t> Scheduler::submit(const std::string& scope, std::function<void()> work)
{
    const std::lock_guard lock(m_mutex);
    if (m_closed)
        return fail(ErrorCode::Unavailable, "the server is stopping and starts no more runs");
    if (m_queue.size() >= m_limits.maxQueued)
        return std::unexpected(fullError());
    const auto ticket = ++m_nextTicket;
    m_queue.push({ticket, scope, std::move(work)});
    if (m_idle < m_queue.size() && m_threads.size() < m_limits.maxLive)
        m_threads.emplace_back([this] { this->work(); });
    m_wake.notify_one();
    return ticket;
}

bool Scheduler::withdraw(const std::string& scope, std::uint64_t ticket)
{
    const std::lock_guard lock(m_mutex);
    return m_queue.remove(scope, ticket);
}

bool Scheduler::mayStart(const std::string& scope) const
{
    const auto found = m_livePerScope.find(scope);
    return found == m_livePerScope.end() || found->second < m_limits.maxLivePerScope;
}

void Scheduler::work()
{
    std::unique_lock lock(m_mutex);
    for (;;) {
        auto job = m_queue.take([this](const std::string& scope) { return mayStart(scope); });
        if (!job) {
            if (m_closed && m_queue.size() == 0)
                return;
            ++m_idle;
            m_wake.wait(lock);
            --m_idle;
            continue;
        }
        ++m_livePerScope[job->scope];
        ++m_live;
        lock.unlock();
        job->work();
        job->work = nullptr; // what it captured goes before it counts as ended
        lock.lock();
        --m_live;
        if (--m_livePerScope[job->scope] == 0)
            m_livePerScope.erase(job->scope);
        m_wake.notify_one(); // a job that waited for this scope may start on another thread
        if (m_closed)
            m_wake.notify_all();
    }
}

Scheduler::Load Scheduler::load() const
{
    const std::lock_guard lock(m_mutex);
    return {.live = m_live, .queued = static_cast<unsigned>(m_queue.size())};
}

} // namespace assay::runs
