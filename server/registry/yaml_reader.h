// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

namespace assay::registry {

/// One value of a YAML text. An alias of a scalar is that scalar; an alias of a collection stays an `Alias` and is
/// never expanded, so nothing grows.
struct YamlNode
{
    enum class Kind : std::uint8_t { Scalar, Sequence, Mapping, Alias };
    Kind kind = Kind::Scalar;
    bool isPlain = false;   ///< a scalar without quotes and not in a block: could be null, a number, ...
    std::size_t offset = 0; ///< of the first byte, in the text that was read
    std::string value;
    /// A sequence's items; a mapping's keys and values in turn, keys being scalars without a repeat.
    std::vector<YamlNode> items;

    /// The value of `key` in this mapping, or null.
    const YamlNode* find(std::string_view key) const;
    /// A plain scalar that means "nothing" (YAML 1.2, core schema).
    bool isNull() const;
};

/// What is legal, but not read by every client: byte offsets of the first of each kind.
struct YamlStyle
{
    static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
    std::size_t flow = kNone;
    std::size_t anchor = kNone;
    std::size_t tag = kNone;
};

struct YamlDocument
{
    YamlNode root;
    YamlStyle style;
    bool isEmpty = false; ///< nothing but blanks and comments
};

struct YamlFault
{
    std::string message;
    std::size_t offset = 0;
};

/// The limits that keep any input within a fraction of a second and a few megabytes.
inline constexpr std::size_t kMaxYamlBytes = 64 << 10;
inline constexpr std::size_t kMaxYamlDepth = 32;
inline constexpr std::size_t kMaxYamlNodes = 10000;
inline constexpr std::size_t kMaxYamlAliases = 100;
inline constexpr std::size_t kMaxJoinedScalars = 64;

/// Reads one document with libyaml's events. Repeated keys, keys that are no scalars, unknown aliases and a second
/// document are faults. Surrogate pairs written as two `\u` escapes in double quotes are one character.
std::expected<YamlDocument, YamlFault> readYaml(std::string_view text);

} // namespace assay::registry
