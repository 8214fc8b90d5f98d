// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/error.h"
#include "server/sandbox/box_spec.h"

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace assay::sandbox::bubblewrap {

/// Limits of a box without control groups: rlimits that its processes inherit from the init, and a thread that samples
/// the box ten times a second. Reported as soft, because between two samples a box can use more than it may: memory is
/// the sum of what its processes hold privately; over the limit the largest one is killed and counted as `oomKills`, as
/// the kernel does it. Files in memory are bounded by the sizes of their file systems alone. Processor time is
/// counted, not limited. Thread-safe.
class SoftLimits
{
public:
    SoftLimits() = default;
    ~SoftLimits();
    SoftLimits(const SoftLimits&) = delete;
    SoftLimits& operator=(const SoftLimits&) = delete;

    /// What the box's init is started with to set its rlimits, in the box: only there are its user's processes counted.
    static std::vector<std::string> initArguments(const BoxLimits& limits);
    /// Samples the box of this init from now on.
    void watch(int initPid, const BoxLimits& limits);
    /// The counters so far; all zero for a box that is not watched.
    BoxMeter meter(int initPid) const;
    void forget(int initPid);

private:
    struct Watched
    {
        BoxLimits limits;
        BoxMeter meter;
    };
    void sampleUntilStopped(std::stop_token stop);

    mutable std::mutex m_mutex; ///< guards m_boxes
    std::condition_variable_any m_wake;
    std::map<int, Watched> m_boxes;
    std::jthread m_thread; ///< started with the first box
};

} // namespace assay::sandbox::bubblewrap
