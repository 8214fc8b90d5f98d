// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/contract/capability.h"
#include "server/registry/package.h"

#include <span>

namespace assay::registry::capabilities {

/// Grows whenever the rules find something else in the same bytes: a stored report of another version is made anew.
inline constexpr std::uint32_t kRulesVersion = 2;

struct ScanLimits
{
    std::uint64_t fileBytes = 1U << 20;  ///< a script beyond is named as not scanned
    std::uint64_t totalBytes = 8U << 20; ///< of all scripts
};

/// What the package can do, by the rules of docs/capabilities.md. `network` and `allowedTools` are the frontmatter's,
/// in the registry's form. Nothing is executed. Linear in the bytes, bounded by the limits; any thread.
contract::CapabilityReport scanPackage(std::span<const PackageFile> files, std::string_view network,
                                       std::string_view allowedTools, const ScanLimits& limits = {});

} // namespace assay::registry::capabilities
