// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/error.h"
#include "server/core/unique_fd.h"
#include "server/sandbox/box_spec.h"

#include <array>
#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace assay::sandbox::cgroup {

enum class Version : std::uint8_t { None, V1, V2 };

/// The control groups of one box: one folder with version 2, one a controller with version 1. Removes them when it is
/// destroyed. `meter` from any thread; the rest from one.
class BoxGroup
{
public:
    /// Makes `name` below each of `parents` and sets the limits. Nothing is left when it fails.
    /// `extraProcesses` is added to limits.pids for processes that are not the box's user's (the launcher, the init).
    static Result<std::unique_ptr<BoxGroup>> create(Version version, const std::vector<std::filesystem::path>& parents,
                                                    const std::string& name, const BoxLimits& limits,
                                                    std::uint32_t extraProcesses);
    ~BoxGroup();
    BoxGroup(const BoxGroup&) = delete;
    BoxGroup& operator=(const BoxGroup&) = delete;

    /// A process joins by writing "0" to each of these: written by the process itself and to `tasks`, version 1 moves
    /// it without waiting for an RCU grace period (2.5 ms). Open until `closeJoin`.
    std::vector<int> joinFds() const;
    void closeJoin() { m_join.clear(); }

    BoxMeter meter() const;

    /// Kills what is still inside and removes the folders. `Timeout` names what is left.
    Result<void> destroy(std::chrono::steady_clock::time_point deadline);

private:
    BoxGroup(Version version, std::vector<std::filesystem::path> folders) : m_version(version), m_folders(folders) {}
    Result<void> limit(const BoxLimits& limits, std::uint32_t extraProcesses);
    Result<void> limitLegacy(const BoxLimits& limits, std::uint32_t processes);
    Result<void> limitUnified(const BoxLimits& limits, std::uint32_t processes);
    Result<void> openJoin();
    void openCounters();
    std::filesystem::path control(std::string_view file) const;

    Version m_version;
    std::vector<std::filesystem::path> m_folders;
    std::vector<UniqueFd> m_join;
    /// Opened once: a run reads them five times.
    enum Counter : std::uint8_t { kPidsEvents, kOomEvents, kCpuTime, kPeakMemory, kCounters };
    std::array<UniqueFd, kCounters> m_counters;
};

} // namespace assay::sandbox::cgroup
