// SPDX-License-Identifier: Apache-2.0
#include "server/sandbox/cgroup/box_group.h"

#include "server/core/file_io.h"
#include "server/sandbox/cgroup/control_file.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <fcntl.h>
#include <sys/stat.h>
#include <thread>

namespace assay::sandbox::cgroup {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t kCpuPeriodMicroseconds = 100'000;
constexpr std::uint64_t kMinQuotaMicroseconds = 1'000; // the kernel's own minimum
constexpr auto kLeftoverPatience = std::chrono::seconds(5);

std::uint64_t quota(double cpus)
{
    const double asked = std::ceil(cpus * static_cast<double>(kCpuPeriodMicroseconds));
    return std::max(kMinQuotaMicroseconds, static_cast<std::uint64_t>(asked));
}

bool coversMachine(double cpus)
{
    return cpus >= static_cast<double>(std::max(1U, std::thread::hardware_concurrency()));
}

Result<void> makeFolders(const std::vector<fs::path>& folders)
{
    for (const fs::path& folder : folders)
        if (::mkdir(folder.c_str(), 0755) != 0)
            return failErrno("make the control group " + folder.string(), errno);
    return {};
}

} // namespace

Result<std::unique_ptr<BoxGroup>> BoxGroup::create(Version version, const std::vector<fs::path>& parents,
                                                   const std::string& name, const BoxLimits& limits,
                                                   std::uint32_t extraProcesses)
{
    std::vector<fs::path> folders;
    for (const fs::path& parent : parents)
        folders.push_back(parent / name);
    if (auto made = makeFolders(folders); !made) {
        for (const fs::path& folder : folders)
            ::rmdir(folder.c_str());
        return forward(made);
    }
    std::unique_ptr<BoxGroup> group(new BoxGroup(version, std::move(folders)));
    group->openCounters();
    auto done = group->limit(limits, extraProcesses);
    if (done)
        done = group->openJoin();
    if (!done)
        return forward(done);
    return group;
}

BoxGroup::~BoxGroup()
{
    if (!m_folders.empty())
        (void)destroy(std::chrono::steady_clock::now() + kLeftoverPatience);
}

fs::path BoxGroup::control(std::string_view file) const
{
    // With version 1 only the folder of the file's controller has it, and looking costs less than a table.
    for (const fs::path& folder : m_folders)
        if (fs::path path = folder / file; m_folders.size() == 1 || ::access(path.c_str(), F_OK) == 0)
            return path;
    return m_folders.empty() ? fs::path() : m_folders.front() / file;
}

Result<void> BoxGroup::limit(const BoxLimits& limits, std::uint32_t extraProcesses)
{
    const std::uint32_t processes = limits.pids + extraProcesses;
    return m_version == Version::V2 ? limitUnified(limits, processes) : limitLegacy(limits, processes);
}

Result<void> BoxGroup::limitLegacy(const BoxLimits& limits, std::uint32_t processes)
{
    const std::string memory = std::to_string(limits.memoryBytes);
    if (auto set = writeControl(control("memory.limit_in_bytes"), memory); !set)
        return set;
    // Absent when the kernel accounts no swap: then only a machine without swap pins it, and there is nothing to set.
    if (const fs::path swap = control("memory.memsw.limit_in_bytes"); ::access(swap.c_str(), F_OK) == 0)
        if (auto set = writeControl(swap, memory); !set)
            return set;
    if (auto set = writeControl(control("pids.max"), std::to_string(processes)); !set)
        return set;
    if (coversMachine(limits.cpus))
        return {};
    if (auto set = writeControl(control("cpu.cfs_period_us"), std::to_string(kCpuPeriodMicroseconds)); !set)
        return set;
    return writeControl(control("cpu.cfs_quota_us"), std::to_string(quota(limits.cpus)));
}

Result<void> BoxGroup::limitUnified(const BoxLimits& limits, std::uint32_t processes)
{
    if (auto set = writeControl(control("memory.max"), std::to_string(limits.memoryBytes)); !set)
        return set;
    if (const fs::path swap = control("memory.swap.max"); ::access(swap.c_str(), F_OK) == 0)
        if (auto set = writeControl(swap, "0"); !set)
            return set;
    if (auto set = writeControl(control("pids.max"), std::to_string(processes)); !set)
        return set;
    if (coversMachine(limits.cpus))
        return {};
    return writeControl(control("cpu.max"),
                        std::to_string(quota(limits.cpus)) + " " + std::to_string(kCpuPeriodMicroseconds));
}

Result<void> BoxGroup::openJoin()
{
    for (const fs::path& folder : m_folders) {
        auto fd = openFile(folder / (m_version == Version::V2 ? "cgroup.procs" : "tasks"), O_WRONLY);
        if (!fd)
            return forward(fd);
        m_join.push_back(std::move(*fd));
    }
    return {};
}

std::vector<int> BoxGroup::joinFds() const
{
    std::vector<int> fds;
    for (const UniqueFd& fd : m_join)
        fds.push_back(fd.get());
    return fds;
}

/// One that the kernel does not have stays closed and reads as nothing.
void BoxGroup::openCounters()
{
    constexpr std::array kUnified{"pids.events", "memory.events", "cpu.stat", "memory.peak"};
    constexpr std::array kLegacy{"pids.events", "memory.oom_control", "cpuacct.usage", "memory.max_usage_in_bytes"};
    const auto& names = m_version == Version::V2 ? kUnified : kLegacy;
    for (std::size_t i = 0; i < kCounters; ++i)
        if (auto fd = openFile(control(names[i]), O_RDONLY))
            m_counters[i] = std::move(*fd);
}

BoxMeter BoxGroup::meter() const
{
    const auto fd = [this](Counter which) { return m_counters[which].get(); };
    BoxMeter meter;
    meter.hard = true;
    meter.pidsDenied = readKeyed(fd(kPidsEvents), "max").value_or(0);
    meter.oomKills = readKeyed(fd(kOomEvents), "oom_kill").value_or(0);
    meter.peakMemoryBytes = readNumber(fd(kPeakMemory)).value_or(0);
    meter.cpu = m_version == Version::V2 ? std::chrono::microseconds(readKeyed(fd(kCpuTime), "usage_usec").value_or(0))
                                         : std::chrono::microseconds(readNumber(fd(kCpuTime)).value_or(0) / 1000);
    return meter;
}

Result<void> BoxGroup::destroy(std::chrono::steady_clock::time_point deadline)
{
    m_join.clear();
    for (UniqueFd& counter : m_counters)
        counter.reset();
    std::string left;
    std::erase_if(m_folders, [&](const fs::path& folder) { return removeGroup(folder, deadline); });
    for (const fs::path& folder : m_folders)
        left += " " + folder.string();
    if (!left.empty())
        return fail(ErrorCode::Timeout, "a control group of the box could not be removed in time", "left:" + left);
    return {};
}

} // namespace assay::sandbox::cgroup
