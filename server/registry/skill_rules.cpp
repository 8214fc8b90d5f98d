// SPDX-License-Identifier: Apache-2.0
#include "server/registry/skill_rules.h"

#include "server/core/json.h"
#include "server/core/text.h"

namespace assay::registry {

namespace {

Result<void> checkText(std::string_view pointer, std::string_view text, std::size_t maxBytes)
{
    if (!isUtf8(text))
        return failAt(std::string(pointer), "this is not UTF-8");
    if (text.size() > maxBytes)
        return failAt(std::string(pointer), "this is " + std::to_string(text.size()) + " bytes long; at most " +
                                                std::to_string(maxBytes) + " are allowed");
    return {};
}

Result<void> checkVisibility(const std::optional<std::string>& visibility)
{
    if (!visibility || *visibility == "public" || *visibility == "restricted" || *visibility == "private")
        return {};
    return failAt("/visibility", "visibility must be public, restricted or private");
}

Result<void> checkLabel(const std::string& name, const std::string& value)
{
    constexpr std::size_t kMaxNameBytes = 128;
    constexpr std::size_t kMaxValueBytes = 1024;
    if (name.empty())
        return failAt("/labels", "a label's name is empty");
    auto checked = checkText("/labels", name, kMaxNameBytes);
    return checked ? checkText("/labels/" + pointerToken(name), value, kMaxValueBytes) : checked;
}

} // namespace

Result<void> checkPublishOptions(const PublishOptions& options)
{
    constexpr std::size_t kMaxNoteBytes = 4000;
    auto checked = checkText("/note", options.note, kMaxNoteBytes);
    return checked ? checkVisibility(options.visibility) : checked;
}

Result<void> checkPatch(const contract::PatchSkill& patch)
{
    constexpr std::size_t kMaxLabels = 64;
    if (auto checked = checkVisibility(patch.visibility); !checked || !patch.labels)
        return checked;
    if (patch.labels->size() > kMaxLabels)
        return failAt("/labels", "a skill has at most " + std::to_string(kMaxLabels) + " labels");
    for (const auto& [name, value] : *patch.labels) {
        if (auto checked = checkLabel(name, value); !checked)
            return checked;
    }
    return {};
}

Result<void> checkFilter(const contract::SkillFilter& filter)
{
    constexpr std::size_t kMaxQueryBytes = 256;
    if (auto checked = checkText("/q", filter.text, kMaxQueryBytes); !checked)
        return checked;
    if (filter.state.empty() || filter.state == "current" || filter.state == "proposed" || filter.state == "withdrawn")
        return {};
    return failAt("/state", "state must be current, proposed or withdrawn");
}

Result<void> checkReason(std::string_view reason)
{
    constexpr std::size_t kMaxReasonBytes = 2000;
    return checkText("/reason", reason, kMaxReasonBytes);
}

Result<void> checkPage(const contract::PageRequest& page)
{
    constexpr std::uint32_t kMaxItems = 200;
    if (page.size >= 1 && page.size <= kMaxItems)
        return {};
    return failAt("/page_size", "page_size must be 1 to " + std::to_string(kMaxItems));
}

} // namespace assay::registry
