// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <optional>
#include <string>

namespace assay::runs {

/// Waiting jobs of many scopes, taken in turn: a scope with a thousand waiting runs delays another scope's first run
/// by one job, not by a thousand. Within a scope the oldest goes first. Not thread-safe.
class FairQueue
{
public:
    struct Job
    {
        std::uint64_t ticket = 0;
        std::string scope;
        std::function<void()> work;
    };

    void push(Job job);
    /// The next job of the next scope in turn for which `mayStart` holds; empty when there is none.
    std::optional<Job> take(const std::function<bool(const std::string& scope)>& mayStart);
    /// Removes a waiting job; false when it is not here (any more).
    bool remove(const std::string& scope, std::uint64_t ticket);
    std::size_t size() const { return m_size; }

private:
    std::map<std::string, std::deque<Job>> m_waiting; ///< no empty deque is kept
    std::list<std::string> m_turns;                   ///< each waiting scope once; the front is next
    std::size_t m_size = 0;
};

} // namespace assay::runs
