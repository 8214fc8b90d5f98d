// SPDX-License-Identifier: Apache-2.0
#include "server/runs/event_log.h"

#include <algorithm>
#include <format>

namespace assay::runs {

/// One registered notification. Its own mutex makes cancelling wait for a call in progress.
struct EventLog::Waiter
{
    std::mutex mutex;
    std::function<void()> notify; ///< empty once called or cancelled

    void call()
    {
        const std::lock_guard lock(mutex);
        if (auto function = std::exchange(notify, nullptr))
            function();
    }
    void cancel()
    {
        const std::lock_guard lock(mutex);
        notify = nullptr;
    }
};

class EventLog::Cursor final : public EventCursor
{
public:
    Cursor(std::shared_ptr<EventLog> log, std::uint64_t next) : m_log(std::move(log)), m_next(next) {}
    ~Cursor() override { cancel(); }

    Batch read(std::size_t maxEvents) override
    {
        const std::lock_guard lock(m_log->m_mutex);
        const auto& events = m_log->m_events;
        Batch out;
        const auto begin = std::min<std::size_t>(m_next, events.size());
        const auto end = std::min(events.size(), begin + maxEvents);
        out.events.assign(events.begin() + static_cast<std::ptrdiff_t>(begin),
                          events.begin() + static_cast<std::ptrdiff_t>(end));
        m_next = std::max<std::uint64_t>(m_next, end);
        out.ended = m_log->m_frozen && m_next >= events.size();
        return out;
    }

    void onReady(std::function<void()> notify) override
    {
        cancel();
        auto waiter = std::make_shared<Waiter>();
        waiter->notify = std::move(notify);
        {
            const std::lock_guard lock(m_log->m_mutex);
            if (!m_log->m_frozen && m_next >= m_log->m_events.size()) {
                m_log->m_waiters.push_back(waiter);
                m_waiter = std::move(waiter);
                return;
            }
        }
        waiter->call();
    }

private:
    void cancel()
    {
        if (!m_waiter)
            return;
        m_waiter->cancel();
        const std::lock_guard lock(m_log->m_mutex);
        std::erase(m_log->m_waiters, m_waiter);
        m_waiter.reset();
    }

    std::shared_ptr<EventLog> m_log;
    std::uint64_t m_next; ///< how many events were passed
    std::shared_ptr<Waiter> m_waiter;
};

void EventLog::wake(const std::vector<std::shared_ptr<Waiter>>& waiters)
{
    for (const auto& waiter : waiters)
        waiter->call();
}

void EventLog::append(std::string_view type, std::string data, Kind kind)
{
    std::vector<std::shared_ptr<Waiter>> waiters;
    {
        const std::lock_guard lock(m_mutex);
        if (m_closed)
            return;
        const bool full = m_events.size() >= kMaxEvents || m_outputBytes + data.size() > kMaxOutputBytes;
        if (kind == Kind::Output && full) {
            ++m_omittedEvents;
            return;
        }
        if (kind == Kind::Output)
            m_outputBytes += data.size();
        m_events.push_back({.id = m_events.size() + 1, .type = std::string(type), .data = std::move(data)});
        waiters = std::exchange(m_waiters, {});
    }
    wake(waiters);
}

std::string EventLog::prepareEnd(std::string data)
{
    const std::lock_guard lock(m_mutex);
    m_closed = true;
    std::uint64_t id = m_events.size();
    m_last.clear();
    if (m_omittedEvents > 0)
        m_last.push_back({++id, "output_omitted", std::format(R"({{"events":{}}})", m_omittedEvents)});
    m_last.push_back({++id, "end", std::move(data)});
    std::string out;
    for (const auto* events : {&m_events, &m_last})
        for (const auto& event : *events)
            out.append(event.type).append(" ").append(event.data).append("\n");
    return out;
}

void EventLog::publishEnd()
{
    std::vector<std::shared_ptr<Waiter>> waiters;
    {
        const std::lock_guard lock(m_mutex);
        std::ranges::move(m_last, std::back_inserter(m_events));
        m_last.clear();
        m_closed = true;
        m_frozen = true;
        waiters = std::exchange(m_waiters, {});
    }
    wake(waiters);
}

Result<std::shared_ptr<EventLog>> EventLog::fromText(std::string_view text)
{
    auto log = std::make_shared<EventLog>();
    while (!text.empty()) {
        const auto space = text.find(' ');
        const auto end = text.find('\n');
        if (end == std::string_view::npos || space >= end)
            return fail(ErrorCode::Internal, "the stored events of this run cannot be read");
        log->m_events.push_back({.id = log->m_events.size() + 1,
                                 .type = std::string(text.substr(0, space)),
                                 .data = std::string(text.substr(space + 1, end - space - 1))});
        text.remove_prefix(end + 1);
    }
    log->m_closed = true;
    log->m_frozen = true;
    return log;
}

std::shared_ptr<EventLog> EventLog::ofEnd(std::string_view state, std::string_view reason)
{
    auto log = std::make_shared<EventLog>();
    (void)log->prepareEnd(std::format(R"({{"state":"{}","reason":"{}"}})", state, reason));
    log->publishEnd();
    return log;
}

std::unique_ptr<EventCursor> EventLog::cursor(std::uint64_t lastId)
{
    return std::make_unique<Cursor>(shared_from_this(), lastId);
}

} // namespace assay::runs
