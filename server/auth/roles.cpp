// SPDX-License-Identifier: Apache-2.0
#include "server/auth/roles.h"

#include <algorithm>
#include <array>
#include <utility>

namespace assay::auth {

namespace {

constexpr std::array<std::pair<std::string_view, Role>, 5> kNames{{{"viewer", Role::Viewer},
                                                                   {"builder", Role::Builder},
                                                                   {"reviewer", Role::Reviewer},
                                                                   {"runner", Role::Runner},
                                                                   {"operator", Role::Operator}}};

std::string_view trimmed(std::string_view text)
{
    const auto first = text.find_first_not_of(" \t");
    if (first == std::string_view::npos)
        return {};
    return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

} // namespace

std::vector<std::string> roleNames(Roles roles)
{
    std::vector<std::string> out;
    for (const auto& [name, role] : kNames)
        if (roles.contains(role))
            out.emplace_back(name);
    return out;
}

Result<Roles> rolesNamed(const std::vector<std::string>& names)
{
    Roles out;
    for (const std::string& name : names) {
        const auto found = std::ranges::find(kNames, std::string_view(name), &std::pair<std::string_view, Role>::first);
        if (found == kNames.end())
            return failAt("/roles", "a role is one of viewer, builder, reviewer, runner and operator");
        if (out.contains(found->second))
            return failAt("/roles", "the role \"" + name + "\" stands twice in the list");
        out = out | found->second;
    }
    if (out == Roles())
        return failAt("/roles", "at least one role is needed");
    return out;
}

Result<Roles> readRoleList(std::string_view list)
{
    std::vector<std::string> names;
    while (names.size() <= kNames.size()) {
        const auto comma = list.find(',');
        names.emplace_back(trimmed(list.substr(0, comma)));
        if (comma == std::string_view::npos)
            break;
        list.remove_prefix(comma + 1);
    }
    return rolesNamed(names);
}

} // namespace assay::auth
