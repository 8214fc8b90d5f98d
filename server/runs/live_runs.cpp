// SPDX-License-Identifier: Apache-2.0
#include "server/runs/live_runs.h"

#include <algorithm>

namespace assay::runs {

void LiveRuns::add(const std::shared_ptr<LiveRun>& run)
{
    const std::lock_guard lock(m_mutex);
    m_runs.insert_or_assign(keyOf(*run), Entry{run, 0});
}

void LiveRuns::remove(const LiveRun& run)
{
    std::shared_ptr<LiveRun> last; // destroyed after the lock is given back
    const std::lock_guard lock(m_mutex);
    if (auto node = m_runs.extract(keyOf(run)))
        last = std::move(node.mapped().run);
}

std::shared_ptr<LiveRun> LiveRuns::find(std::string_view scopeFingerprint, std::string_view id) const
{
    const std::lock_guard lock(m_mutex);
    const auto found = m_runs.find({std::string(scopeFingerprint), std::string(id)});
    return found == m_runs.end() ? nullptr : found->second.run;
}

std::vector<std::shared_ptr<LiveRun>> LiveRuns::ofScope(std::string_view scopeFingerprint) const
{
    const std::lock_guard lock(m_mutex);
    std::vector<std::shared_ptr<LiveRun>> out;
    for (auto each = m_runs.lower_bound({std::string(scopeFingerprint), {}});
         each != m_runs.end() && each->first.first == scopeFingerprint; ++each)
        out.push_back(each->second.run);
    std::ranges::reverse(out); // ids sort by age
    return out;
}

std::vector<std::shared_ptr<LiveRun>> LiveRuns::all() const
{
    const std::lock_guard lock(m_mutex);
    std::vector<std::shared_ptr<LiveRun>> out;
    for (const auto& [key, entry] : m_runs)
        out.push_back(entry.run);
    return out;
}

void LiveRuns::setTicket(const LiveRun& run, std::uint64_t ticket)
{
    const std::lock_guard lock(m_mutex);
    if (const auto found = m_runs.find(keyOf(run)); found != m_runs.end())
        found->second.ticket = ticket;
}

std::uint64_t LiveRuns::ticket(const LiveRun& run) const
{
    const std::lock_guard lock(m_mutex);
    const auto found = m_runs.find(keyOf(run));
    return found == m_runs.end() ? 0 : found->second.ticket;
}

} // namespace assay::runs
