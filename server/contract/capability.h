// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace assay::contract {

/// One thing that a revision can or wants to do (docs/capabilities.md), found without executing anything.
struct Capability
{
    std::string kind;         ///< "network", "package", "executable", "process", ...
    std::string value;        ///< what of it: a host, a package, a name
    std::string rule;         ///< which rule found it, stable: "net.url"
    std::string path;         ///< where it was found first
    std::uint32_t line = 0;   ///< from 1; 0 for the file as a whole
    std::uint32_t places = 1; ///< how often it was found

    bool operator==(const Capability&) const = default;
};

struct CapabilityReport
{
    std::uint32_t rules = 0; ///< the version of the rules that made it
    std::vector<Capability> items;
    std::uint64_t leftOut = 0; ///< found, but over the limit of its kind
};

struct CapabilityChange
{
    Capability item;
    std::string change; ///< "added", "changed" (an executable's bytes), "removed" or "unchanged"
};

/// What a revision can newly do, beside another.
struct CapabilityDiff
{
    std::vector<CapabilityChange> items; ///< added, changed, removed, unchanged
    std::uint64_t leftOut = 0;
    std::int64_t sizeChangeBytes = 0;
    std::int64_t fileCountChange = 0;
};

/// Goes with every list: what it is not.
inline constexpr const char* kCapabilityNotice =
    "This list informs reviewers. It is no boundary: code can do what no scan finds. What a run may do is decided by "
    "its box and its egress policy.";

} // namespace assay::contract
