// SPDX-License-Identifier: Apache-2.0
#include "server/registry/capabilities/capability_diff.h"

#include <algorithm>
#include <iterator>

namespace assay::registry::capabilities {

namespace {

using contract::Capability;
using contract::CapabilityChange;
using Keys = std::set<std::pair<std::string_view, std::string_view>>;

Keys keysOf(const contract::CapabilityReport& report)
{
    Keys out;
    for (const Capability& item : report.items)
        out.emplace(item.kind, item.value);
    return out;
}

/// Is the item about a whole file, so that other bytes at its path are another thing?
bool isOfFile(const Capability& item)
{
    return item.kind == "executable" || item.kind == "binary" || item.kind == "unscanned";
}

} // namespace

contract::CapabilityDiff diffCapabilities(const contract::CapabilityReport& before,
                                          const contract::CapabilityReport& after,
                                          const std::set<std::string>& changedFiles)
{
    const Keys old = keysOf(before);
    const Keys fresh = keysOf(after);
    std::vector<CapabilityChange> changed;
    std::vector<CapabilityChange> removed;
    std::vector<CapabilityChange> unchanged;
    contract::CapabilityDiff out;
    out.leftOut = std::max(before.leftOut, after.leftOut);
    for (const Capability& item : after.items) {
        if (!old.contains({item.kind, item.value}))
            out.items.push_back({item, "added"});
        else if (isOfFile(item) && changedFiles.contains(item.value))
            changed.push_back({item, "changed"});
        else
            unchanged.push_back({item, "unchanged"});
    }
    for (const Capability& item : before.items)
        if (!fresh.contains({item.kind, item.value}))
            removed.push_back({item, "removed"});
    for (auto* more : {&changed, &removed, &unchanged})
        std::ranges::move(*more, std::back_inserter(out.items));
    return out;
}

} // namespace assay::registry::capabilities
