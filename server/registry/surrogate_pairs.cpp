// SPDX-License-Identifier: Apache-2.0
#include "server/registry/surrogate_pairs.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>

namespace assay::registry {

namespace {

constexpr std::size_t kEscape = 6;  // \uXXXX
constexpr std::size_t kPair = 12;   // two of them
constexpr std::size_t kJoined = 10; // \UXXXXXXXX

std::optional<std::uint32_t> escapeAt(std::string_view text, std::size_t offset)
{
    if (offset + kEscape > text.size() || text[offset] != '\\' || text[offset + 1] != 'u')
        return std::nullopt;
    std::uint32_t value = 0;
    const char* first = text.data() + offset + 2;
    const auto [end, error] = std::from_chars(first, first + 4, value, 16);
    return error == std::errc() && end == first + 4 ? std::optional(value) : std::nullopt;
}

/// The code point of the pair at `offset`.
std::optional<std::uint32_t> pairAt(std::string_view text, std::size_t offset)
{
    const auto high = escapeAt(text, offset);
    const auto low = high ? escapeAt(text, offset + kEscape) : std::nullopt;
    if (!low || *high < 0xD800 || *high > 0xDBFF || *low < 0xDC00 || *low > 0xDFFF)
        return std::nullopt;
    return 0x10000 + ((*high - 0xD800) << 10) + (*low - 0xDC00);
}

void appendJoined(std::string& out, std::uint32_t value)
{
    constexpr std::string_view digits = "0123456789abcdef";
    out += "\\U";
    for (int shift = 28; shift >= 0; shift -= 4)
        out += digits[(value >> shift) & 15];
}

} // namespace

bool SurrogatePairs::joinFrom(std::size_t offset)
{
    if (!pairAt(m_text, offset))
        return false;
    std::string out = m_text.substr(0, offset);
    std::size_t at = offset;
    while (at < m_text.size() && m_text[at] != '"') {
        if (const auto value = pairAt(m_text, at)) {
            m_joins.push_back(out.size());
            appendJoined(out, *value);
            at += kPair;
            continue;
        }
        const std::size_t taken = std::min<std::size_t>(m_text[at] == '\\' ? 2 : 1, m_text.size() - at);
        out.append(m_text, at, taken);
        at += taken;
    }
    out.append(m_text, at);
    m_text = std::move(out);
    return true;
}

std::size_t SurrogatePairs::toOriginal(std::size_t offset) const
{
    const auto before = std::ranges::lower_bound(m_joins, offset) - m_joins.begin();
    return offset + static_cast<std::size_t>(before) * (kPair - kJoined);
}

} // namespace assay::registry
