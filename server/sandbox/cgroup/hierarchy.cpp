// SPDX-License-Identifier: Apache-2.0
#include "server/sandbox/cgroup/hierarchy.h"

#include "server/core/file_io.h"
#include "server/sandbox/cgroup/control_file.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <set>
#include <sys/stat.h>
#include <unistd.h>

namespace assay::sandbox::cgroup {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kServerGroup = "assay-server";
constexpr std::uint64_t kMaxProcFile = 4U << 20;
constexpr auto kReapPatience = std::chrono::seconds(5);
constexpr std::array<std::string_view, 4> kLegacyControllers{"memory", "pids", "cpu", "cpuacct"};

bool makeFolder(const fs::path& folder) { return ::mkdir(folder.c_str(), 0755) == 0 || errno == EEXIST; }

bool offersControllers(const fs::path& group)
{
    const auto offered = readFile(group / "cgroup.controllers", kMaxProcFile);
    if (!offered)
        return false;
    const std::string padded = " " + offered->substr(0, offered->find('\n')) + " ";
    return std::ranges::all_of(std::array{" memory ", " pids ", " cpu "},
                               [&](const char* name) { return padded.contains(name); });
}

bool enableControllers(const fs::path& group)
{
    return offersControllers(group) && writeControl(group / "cgroup.subtree_control", "+memory +pids +cpu").has_value();
}

/// A group that hands out controllers may hold no process itself, the top group excepted.
bool vacate(const fs::path& group)
{
    const fs::path leaf = group / kServerGroup;
    return makeFolder(leaf) && writeControl(leaf / "cgroup.procs", std::to_string(::getpid())).has_value();
}

std::set<std::string> childrenOf(const fs::path& folder)
{
    std::set<std::string> names;
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(folder, ignored))
        if (entry.is_directory(ignored))
            names.insert(entry.path().filename().string());
    return names;
}

} // namespace

Hierarchy Hierarchy::open(const Mounts& mounts, const std::string& selfCgroup, const std::string& instance)
{
    Hierarchy hierarchy;
    const std::string name = "assay-" + instance;
    if (mounts.unified && hierarchy.tryUnified(*mounts.unified, selfCgroup, name))
        return hierarchy;
    if (hierarchy.tryLegacy(mounts, name))
        return hierarchy;
    hierarchy.m_parents.clear();
    hierarchy.m_shortfall = "no control group was delegated to the server: neither can its own version 2 group hand "
                            "out memory, pids and cpu, nor are the version 1 controllers writable";
    return hierarchy;
}

Hierarchy Hierarchy::open(const std::string& instance)
{
    const auto mounts = readFile("/proc/self/mountinfo", kMaxProcFile);
    const auto groups = readFile("/proc/self/cgroup", kMaxProcFile);
    return open(parseMounts(mounts.value_or("")), groups.value_or(""), instance);
}

bool Hierarchy::tryUnified(const fs::path& mount, const std::string& selfCgroup, const std::string& instance)
{
    auto own = ownUnifiedGroup(selfCgroup);
    if (!own)
        return false;
    // A server started from inside an earlier one's group, or restarted by itself, must not nest deeper each time.
    if (own->ends_with("/" + std::string(kServerGroup)))
        own->resize(own->size() - kServerGroup.size() - 1);
    const fs::path base = mount / fs::path(*own).relative_path();
    if (::access((base / "cgroup.subtree_control").c_str(), W_OK) != 0)
        return false;
    // Asked first: in a group that has nothing to hand out, moving the server would be for nothing.
    if (!offersControllers(base))
        return false;
    if (!enableControllers(base) && !(vacate(base) && enableControllers(base)))
        return false;
    const fs::path parent = base / instance;
    if (!makeFolder(parent) || !enableControllers(parent))
        return false;
    m_version = Version::V2;
    m_parents = {parent};
    return true;
}

bool Hierarchy::tryLegacy(const Mounts& mounts, const std::string& instance)
{
    for (const std::string_view controller : kLegacyControllers) {
        const auto found = mounts.legacy.find(std::string(controller));
        if (found == mounts.legacy.end())
            return false;
        fs::path parent = found->second / instance;
        if (!makeFolder(parent) || ::access(parent.c_str(), W_OK) != 0)
            return false;
        if (!std::ranges::contains(m_parents, parent))
            m_parents.push_back(std::move(parent));
    }
    m_version = Version::V1;
    return true;
}

std::string_view Hierarchy::source() const
{
    switch (m_version) {
    case Version::V2:
        return "cgroup2";
    case Version::V1:
        return "cgroup1";
    case Version::None:
        break;
    }
    return "rlimits";
}

Result<std::unique_ptr<BoxGroup>> Hierarchy::create(const std::string& box, const BoxLimits& limits,
                                                    std::uint32_t extraProcesses) const
{
    // Whoever tidies up the machine's groups may have taken the empty folders away.
    for (const fs::path& parent : m_parents)
        if (::mkdir(parent.c_str(), 0755) == 0 && m_version == Version::V2 && !enableControllers(parent))
            return fail(ErrorCode::Unavailable, "the server's control group no longer hands out its controllers");
    return BoxGroup::create(m_version, m_parents, box, limits, extraProcesses);
}

Result<std::vector<std::string>> Hierarchy::reap(const std::vector<std::string>& alive) const
{
    const auto deadline = std::chrono::steady_clock::now() + kReapPatience;
    std::set<std::string> removed;
    std::string left;
    for (const fs::path& parent : m_parents)
        for (const std::string& box : childrenOf(parent)) {
            if (std::ranges::contains(alive, box))
                continue;
            if (removeGroup(parent / box, deadline))
                removed.insert(box);
            else
                left += " " + (parent / box).string();
        }
    if (!left.empty())
        return fail(ErrorCode::Timeout, "boxes of an earlier server could not be removed in time", "left:" + left);
    return std::vector<std::string>(removed.begin(), removed.end());
}

void Hierarchy::retire() const
{
    for (const fs::path& parent : m_parents)
        ::rmdir(parent.c_str());
}

} // namespace assay::sandbox::cgroup
