// SPDX-License-Identifier: Apache-2.0
#include "server/sandbox/cgroup/mounts.h"

#include <algorithm>
#include <array>
#include <ranges>
#include <vector>

namespace assay::sandbox::cgroup {

namespace {

constexpr std::array<std::string_view, 4> kControllers{"memory", "pids", "cpu", "cpuacct"};

std::vector<std::string_view> split(std::string_view text, char separator)
{
    std::vector<std::string_view> parts;
    for (const auto part : std::views::split(text, separator))
        parts.emplace_back(part.begin(), part.end());
    return parts;
}

void addLegacy(Mounts& mounts, std::string_view place, std::string_view options)
{
    for (const std::string_view option : split(options, ','))
        if (std::ranges::contains(kControllers, option))
            mounts.legacy.try_emplace(std::string(option), place);
}

} // namespace

Mounts parseMounts(std::string_view mountinfo)
{
    Mounts mounts;
    for (const std::string_view line : split(mountinfo, '\n')) {
        const auto fields = split(line, ' ');
        const auto dash = std::ranges::find(fields, std::string_view("-"));
        if (fields.size() < 6 || fields.end() - dash < 4)
            continue;
        const std::string_view type = *(dash + 1);
        if (type == "cgroup2" && !mounts.unified)
            mounts.unified = fields[4];
        if (type == "cgroup")
            addLegacy(mounts, fields[4], *(dash + 3));
    }
    return mounts;
}

std::optional<std::string> ownUnifiedGroup(std::string_view selfCgroup)
{
    for (const std::string_view line : split(selfCgroup, '\n'))
        if (line.starts_with("0::/"))
            return std::string(line.substr(3));
    return std::nullopt;
}

} // namespace assay::sandbox::cgroup
