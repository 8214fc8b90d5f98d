// SPDX-License-Identifier: Apache-2.0
#include "server/contract/codec.h"

namespace assay::contract {

namespace {

json::object itemJson(const Capability& item)
{
    return {{"kind", item.kind},
            {"value", item.value},
            {"rule", item.rule},
            {"path", item.path},
            {"line", item.line == 0 ? json::value() : json::value(item.line)},
            {"places", item.places}};
}

std::uint64_t countOf(const CapabilityDiff& diff, std::string_view change)
{
    std::uint64_t out = 0;
    for (const CapabilityChange& item : diff.items)
        out += item.change == change ? 1 : 0;
    return out;
}

} // namespace

json::object toJson(const CapabilityReport& report)
{
    json::array items;
    items.reserve(report.items.size());
    for (const Capability& item : report.items)
        items.push_back(itemJson(item));
    return {{"notice", kCapabilityNotice},
            {"rules", report.rules},
            {"items", std::move(items)},
            {"left_out", report.leftOut}};
}

json::object toJson(const CapabilityDiff& diff)
{
    json::array items;
    items.reserve(diff.items.size());
    for (const CapabilityChange& change : diff.items) {
        json::object item = itemJson(change.item);
        item["change"] = change.change;
        items.push_back(std::move(item));
    }
    return {{"notice", kCapabilityNotice},
            {"added", countOf(diff, "added")},
            {"changed", countOf(diff, "changed")},
            {"removed", countOf(diff, "removed")},
            {"unchanged", countOf(diff, "unchanged")},
            {"size_change_bytes", diff.sizeChangeBytes},
            {"file_count_change", diff.fileCountChange},
            {"items", std::move(items)},
            {"left_out", diff.leftOut}};
}

} // namespace assay::contract
