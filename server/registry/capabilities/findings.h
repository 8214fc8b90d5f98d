// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/contract/capability.h"

#include <array>
#include <string_view>
#include <unordered_map>

namespace assay::registry::capabilities {

/// The closed list of kinds, in the order in which they are shown.
enum class Kind : std::uint8_t {
    Network,
    Credential,
    Process,
    Package,
    Executable,
    Binary,
    File,
    Tool,
    Environment,
    Unscanned,
};
std::string_view kindName(Kind kind);

/// A piece of source: a file, or a block of code inside one that begins at `firstLine`.
struct Source
{
    std::string_view path;
    std::string_view text;
    std::uint32_t firstLine = 1;
    std::uint32_t depth = 0; ///< code found inside code: a command line in a string
};
inline constexpr std::uint32_t kMaxDepth = 3;

/// Collects what the rules find: one item for a rule and value, with its first place and how many there are. Each kind
/// has room for `kMaxItems`, so that a flood of one does not hide another; the rest is counted. Values are cut at 200
/// bytes.
class Findings
{
public:
    void add(Kind kind, std::string_view rule, std::string_view value, std::string_view path, std::uint32_t line);
    /// Ordered by kind, value and rule.
    contract::CapabilityReport take();

    static constexpr std::size_t kMaxItems = 100;
    static constexpr std::size_t kKinds = 10;

private:
    struct Item
    {
        Kind kind;
        contract::Capability what;
    };
    std::vector<Item> m_items;
    std::unordered_map<std::string, std::size_t> m_byKey;
    std::array<std::size_t, kKinds> m_counts{};
    std::uint64_t m_leftOut = 0;
};

} // namespace assay::registry::capabilities
