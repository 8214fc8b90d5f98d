// SPDX-License-Identifier: Apache-2.0
#include "server/registry/capabilities/findings.h"

#include <algorithm>
#include <tuple>

namespace assay::registry::capabilities {

namespace {

constexpr std::size_t kMaxValueBytes = 200;

std::string shown(std::string_view value)
{
    if (value.size() <= kMaxValueBytes)
        return std::string(value);
    std::size_t size = kMaxValueBytes;
    while (size > 0 && (static_cast<unsigned char>(value[size]) & 0xC0) == 0x80)
        --size;
    return std::string(value.substr(0, size)) + "...";
}

} // namespace

std::string_view kindName(Kind kind)
{
    constexpr std::array<std::string_view, Findings::kKinds> names{"network",     "credential", "process", "package",
                                                                   "executable",  "binary",     "file",    "tool",
                                                                   "environment", "unscanned"};
    return names[static_cast<std::size_t>(kind)];
}

void Findings::add(Kind kind, std::string_view rule, std::string_view value, std::string_view path, std::uint32_t line)
{
    // A path of the package is never cut (its rules bound it), so that two files stay two.
    std::string text = value == path ? std::string(value) : shown(value);
    std::string key(rule);
    key.append(1, '\n').append(text);
    if (const auto found = m_byKey.find(key); found != m_byKey.end()) {
        ++m_items[found->second].what.places;
        return;
    }
    std::size_t& count = m_counts[static_cast<std::size_t>(kind)];
    if (count == kMaxItems) {
        ++m_leftOut;
        return;
    }
    ++count;
    m_byKey.emplace(std::move(key), m_items.size());
    m_items.push_back(
        {kind, {std::string(kindName(kind)), std::move(text), std::string(rule), std::string(path), line, 1}});
}

contract::CapabilityReport Findings::take()
{
    std::ranges::sort(m_items, {},
                      [](const Item& item) { return std::tie(item.kind, item.what.value, item.what.rule); });
    contract::CapabilityReport out;
    out.leftOut = m_leftOut;
    out.items.reserve(m_items.size());
    for (Item& item : m_items)
        out.items.push_back(std::move(item.what));
    return out;
}

} // namespace assay::registry::capabilities
