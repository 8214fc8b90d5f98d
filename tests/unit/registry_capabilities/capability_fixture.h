// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/registry/capabilities/package_scan.h"
#include "tests/unit/registry_diff/diff_fixture.h"

namespace assay::test {

inline contract::CapabilityReport reportOf(const Files& files, std::string_view network = {},
                                           std::string_view tools = {},
                                           const registry::capabilities::ScanLimits& limits = {})
{
    return registry::capabilities::scanPackage(files.list(), network, tools, limits);
}

/// "rule value" of each item, in the report's order; `without` names rules that are not of interest.
inline std::string itemsOf(const contract::CapabilityReport& report, const std::set<std::string>& without = {})
{
    std::string out;
    for (const contract::Capability& item : report.items)
        if (!without.contains(item.rule))
            out += (out.empty() ? "" : "; ") + item.rule + " " + item.value;
    return out;
}

} // namespace assay::test
