// SPDX-License-Identifier: Apache-2.0
#include "server/sandbox/bubblewrap/soft_limits.h"

#include "server/sandbox/bubblewrap/process_table.h"

#include <algorithm>
#include <csignal>

namespace assay::sandbox::bubblewrap {

namespace {

constexpr auto kInterval = std::chrono::milliseconds(100);
/// The init is a process of the box's user as well.
constexpr std::uint32_t kInit = 1;

/// Takes one sample into `meter`; returns the process to kill for memory, or 0.
int take(const std::vector<ProcessSample>& processes, const BoxLimits& limits, BoxMeter& meter)
{
    std::uint64_t memory = 0;
    std::chrono::microseconds cpu{0};
    const ProcessSample* largest = nullptr;
    for (const ProcessSample& process : processes) {
        memory += process.privateBytes;
        cpu += process.cpu;
        if (!largest || process.privateBytes > largest->privateBytes)
            largest = &process;
    }
    meter.cpu = std::max(meter.cpu, cpu);
    meter.peakMemoryBytes = std::max(meter.peakMemoryBytes, memory);
    // The rlimit refuses silently; a box that stands at its limit is one that is being refused.
    if (processes.size() >= limits.pids)
        ++meter.pidsDenied;
    if (memory <= limits.memoryBytes || !largest)
        return 0;
    ++meter.oomKills;
    return largest->pid;
}

} // namespace

SoftLimits::~SoftLimits() = default;

std::vector<std::string> SoftLimits::initArguments(const BoxLimits& limits)
{
    return {"--limits", std::to_string(limits.pids + kInit), std::to_string(limits.memoryBytes)};
}

void SoftLimits::watch(int initPid, const BoxLimits& limits)
{
    const std::scoped_lock lock(m_mutex);
    m_boxes.insert_or_assign(initPid, Watched{limits, {}});
    if (!m_thread.joinable())
        m_thread = std::jthread([this](std::stop_token stop) { sampleUntilStopped(std::move(stop)); });
    m_wake.notify_all();
}

BoxMeter SoftLimits::meter(int initPid) const
{
    const std::scoped_lock lock(m_mutex);
    const auto found = m_boxes.find(initPid);
    return found == m_boxes.end() ? BoxMeter() : found->second.meter;
}

void SoftLimits::forget(int initPid)
{
    const std::scoped_lock lock(m_mutex);
    m_boxes.erase(initPid);
}

void SoftLimits::sampleUntilStopped(std::stop_token stop)
{
    std::unique_lock lock(m_mutex);
    while (m_wake.wait(lock, stop, [this] { return !m_boxes.empty(); })) {
        lock.unlock();
        const auto processes = readProcesses();
        lock.lock();
        for (auto& [init, watched] : m_boxes)
            // A descendant in the list was one a moment ago; its number is not given away again that soon.
            if (const int victim = take(descendantsOf(init, processes), watched.limits, watched.meter))
                ::kill(victim, SIGKILL);
        m_wake.wait_for(lock, stop, kInterval, [] { return false; });
    }
}

} // namespace assay::sandbox::bubblewrap
