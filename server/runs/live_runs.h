// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/runs/live_run.h"

#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace assay::runs {

/// The runs that have not ended, by scope and id, with the ticket of those that wait. Thread-safe.
class LiveRuns
{
public:
    void add(const std::shared_ptr<LiveRun>& run);
    void remove(const LiveRun& run);
    /// Null when this scope has no live run of that id.
    std::shared_ptr<LiveRun> find(std::string_view scopeFingerprint, std::string_view id) const;
    /// Newest first.
    std::vector<std::shared_ptr<LiveRun>> ofScope(std::string_view scopeFingerprint) const;
    std::vector<std::shared_ptr<LiveRun>> all() const;
    /// The scheduler's ticket of a run; 0 when it is not known (any more).
    void setTicket(const LiveRun& run, std::uint64_t ticket);
    std::uint64_t ticket(const LiveRun& run) const;

private:
    struct Entry
    {
        std::shared_ptr<LiveRun> run;
        std::uint64_t ticket = 0;
    };
    using Key = std::pair<std::string, std::string>;
    static Key keyOf(const LiveRun& run) { return {run.plan().scopeFingerprint, run.plan().runId}; }

    mutable std::mutex m_mutex;
    std::map<Key, Entry> m_runs;
};

} // namespace assay::runs
