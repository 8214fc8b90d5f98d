// SPDX-License-Identifier: Apache-2.0
#include "server/runs/fair_queue.h"

#include <algorithm>

namespace assay::runs {

void FairQueue::push(Job job)
{
    auto& jobs = m_waiting[job.scope];
    if (jobs.empty())
        m_turns.push_back(job.scope);
    jobs.push_back(std::move(job));
    ++m_size;
}

std::optional<FairQueue::Job> FairQueue::take(const std::function<bool(const std::string&)>& mayStart)
{
    const auto turn = std::ranges::find_if(m_turns, mayStart);
    if (turn == m_turns.end())
        return std::nullopt;
    const auto found = m_waiting.find(*turn);
    Job job = std::move(found->second.front());
    found->second.pop_front();
    --m_size;
    if (found->second.empty()) {
        m_waiting.erase(found);
        m_turns.erase(turn);
    } else {
        m_turns.splice(m_turns.end(), m_turns, turn);
    }
    return job;
}

bool FairQueue::remove(const std::string& scope, std::uint64_t ticket)
{
    const auto found = m_waiting.find(scope);
    if (found == m_waiting.end())
        return false;
    const auto job = std::ranges::find(found->second, ticket, &Job::ticket);
    if (job == found->second.end())
        return false;
    found->second.erase(job);
    --m_size;
    if (found->second.empty()) {
        m_waiting.erase(found);
        m_turns.remove(scope);
    }
    return true;
}

} // namespace assay::runs
