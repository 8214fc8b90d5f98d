// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/metrics.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace assay::test {

/// Keeps what it was told.
struct CountingMetrics final : Metrics
{
    void add(Count what, std::uint64_t by) override { counts[what] += by; }
    void cached(std::string_view backend, std::uint64_t hit, std::uint64_t missed) override
    {
        backends.emplace(backend);
        hits += hit;
        misses += missed;
    }
    void commandEnded(std::chrono::milliseconds, std::string_view termination) override
    {
        terminations.emplace_back(termination);
    }
    void runEnded(std::string_view state) override { states.emplace_back(state); }
    void materialized(std::chrono::nanoseconds, std::uint64_t bytes) override { materializedBytes.push_back(bytes); }
    std::map<Count, std::uint64_t> counts;
    std::set<std::string> backends;
    std::uint64_t hits = 0;
    std::uint64_t misses = 0;
    std::vector<std::string> terminations;
    std::vector<std::string> states;
    std::vector<std::uint64_t> materializedBytes;
};

} // namespace assay::test
