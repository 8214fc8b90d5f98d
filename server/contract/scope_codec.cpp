// SPDX-License-Identifier: Apache-2.0
#include "server/contract/codec.h"
#include "server/contract/json_parts.h"
#include "server/contract/object_reader.h"

#include <array>

namespace assay::contract {

namespace {

constexpr std::array<std::string_view, 2> kModes{"automatic", "reviewed"};
constexpr std::uint64_t kMaxApprovals = 10;
constexpr ListRule kChecks{.maxItems = 32, .item = {.minBytes = 1, .maxBytes = 64}};

void readDays(ObjectReader& in, std::string_view name, PatchScope::Retention::Days& out)
{
    std::optional<json::value> given;
    in.any(name, given);
    if (!given)
        return;
    std::optional<std::uint64_t> days;
    if (!given->is_null())
        in.count(name, days, 0, RetentionDays::kMost);
    out = days;
}

json::value daysOrNull(const std::optional<std::uint64_t>& days) { return days ? json::value(*days) : json::value(); }

} // namespace

Result<PatchScope> readPatchScope(const json::value& body)
{
    PatchScope out;
    ObjectReader in(body);
    std::vector<std::string> checks;
    in.text("promotion_mode", out.promotionMode, {.oneOf = kModes})
        .texts("required_checks", checks, kChecks)
        .count("required_approvals", out.requiredApprovals, 1, kMaxApprovals)
        .object("retention", [&](ObjectReader& days) {
            readDays(days, "runs_days", out.retention.runs);
            readDays(days, "artifacts_days", out.retention.artifacts);
            readDays(days, "revisions_days", out.retention.revisions);
        });
    if (in.has("required_checks"))
        out.requiredChecks = std::move(checks);
    return in.finish(std::move(out));
}

json::object toJson(const ScopeSettings& settings)
{
    return {{"fingerprint", settings.fingerprint},
            {"promotion_mode", settings.promotionMode},
            {"required_checks", textArray(settings.requiredChecks)},
            {"required_approvals", settings.requiredApprovals},
            {"retention", json::object{{"runs_days", daysOrNull(settings.retention.runs)},
                                       {"artifacts_days", daysOrNull(settings.retention.artifacts)},
                                       {"revisions_days", daysOrNull(settings.retention.revisions)}}},
            {"updated_at", timeOrNull(settings.updatedAt)},
            {"updated_by", textOrNull(settings.updatedBy)}};
}

} // namespace assay::contract
