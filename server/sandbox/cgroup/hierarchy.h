// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/sandbox/cgroup/box_group.h"
#include "server/sandbox/cgroup/mounts.h"

#include <string>
#include <string_view>
#include <vector>

namespace assay::sandbox::cgroup {

/// Where one server instance keeps the control groups of its boxes, and by which version. Thread-safe after `open`.
///
/// Version 2 is used when its controllers memory, pids and cpu can be enabled below the server's own group (systemd's
/// `Delegate=yes`, or root): the server's processes then move to the child group `assay-server`, because a group with
/// processes cannot hand out controllers. Version 1 needs root and lives at the top of each controller, where an
/// earlier server of the same instance can be found whatever started it. Otherwise there is `None`, with the reason.
class Hierarchy
{
public:
    /// `instance` names the folder `assay-<instance>` that holds all of this server's boxes and nothing else's.
    static Hierarchy open(const Mounts& mounts, const std::string& selfCgroup, const std::string& instance);
    /// Reads /proc/self.
    static Hierarchy open(const std::string& instance);

    Version version() const { return m_version; }
    /// "cgroup2", "cgroup1" or "rlimits".
    std::string_view source() const;
    /// Why limits are not the kernel's; empty when they are.
    const std::string& shortfall() const { return m_shortfall; }

    Result<std::unique_ptr<BoxGroup>> create(const std::string& box, const BoxLimits& limits,
                                             std::uint32_t extraProcesses) const;

    /// Ends and removes every box group of this instance, except those named in `alive`. Returns what was removed;
    /// `Timeout` names what was not. 5 s at most.
    Result<std::vector<std::string>> reap(const std::vector<std::string>& alive) const;

    /// Removes the instance's own folders when no box is in them: the end of an orderly server.
    void retire() const;

private:
    bool tryUnified(const std::filesystem::path& mount, const std::string& selfCgroup, const std::string& instance);
    bool tryLegacy(const Mounts& mounts, const std::string& instance);

    Version m_version = Version::None;
    std::vector<std::filesystem::path> m_parents;
    std::string m_shortfall;
};

} // namespace assay::sandbox::cgroup
