// SPDX-License-Identifier: Apache-2.0
#include "server/registry/name_slug.h"

#include "server/core/text.h"

#include <algorithm>

namespace assay::registry {

namespace {

bool isNameCharacter(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

} // namespace

bool isRegistryName(std::string_view name)
{
    if (name.empty() || name.size() > kMaxNameBytes || name.front() == '-' || name.back() == '-')
        return false;
    return name.find("--") == std::string_view::npos &&
           std::ranges::all_of(name, [](char c) { return c == '-' || isNameCharacter(c); });
}

std::string slugOf(std::string_view name)
{
    std::string out;
    bool gap = false;
    for (const char c : toLower(toNfkc(name))) {
        if (!isNameCharacter(c)) {
            gap = true;
            continue;
        }
        if (gap && !out.empty())
            out += '-';
        gap = false;
        out += c;
    }
    return out;
}

} // namespace assay::registry
