// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::sandbox::bubblewrap {

/// One process as /proc tells of it (proc_pid_stat(5), proc_pid_statm(5)).
struct ProcessSample
{
    int pid = 0;
    int parent = 0;
    std::chrono::microseconds cpu{0}; ///< its own and that of its children that were waited for
    std::uint64_t privateBytes = 0;   ///< resident and not shared with a file
};

/// The parent and times out of a stat text, or nothing when it is malformed. The name in it is the process's own choice
/// and may hold anything, parentheses and blanks included.
std::optional<ProcessSample> parseStat(std::string_view text);

/// All processes of the machine now, by their parents.
std::multimap<int, ProcessSample> readProcesses();

/// `root`'s descendants, without itself. Orphans of a box belong to its init, so this is all of the box.
std::vector<ProcessSample> descendantsOf(int root, const std::multimap<int, ProcessSample>& byParent);

} // namespace assay::sandbox::bubblewrap
