// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace assay::sandbox::cgroup {

/// Where the control groups of this machine are mounted, from /proc/self/mountinfo (proc_pid_mountinfo(5)).
struct Mounts
{
    std::optional<std::filesystem::path> unified;        ///< the version 2 hierarchy
    std::map<std::string, std::filesystem::path> legacy; ///< version 1: controller to mount point
};

Mounts parseMounts(std::string_view mountinfo);

/// The process's own group in the version 2 hierarchy, from /proc/self/cgroup; empty when there is none.
std::optional<std::string> ownUnifiedGroup(std::string_view selfCgroup);

} // namespace assay::sandbox::cgroup
