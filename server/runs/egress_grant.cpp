// SPDX-License-Identifier: Apache-2.0
#include "server/runs/egress_grant.h"

#include <format>

namespace assay::runs {

namespace {

Result<void> checkTier(const contract::Egress& egress)
{
    if (egress.tier != "none" && egress.tier != "default_internet" && egress.tier != "allowlist")
        return failAt("/egress/tier", "tier is \"none\", \"default_internet\" or \"allowlist\"");
    if (egress.tier != "allowlist" && !egress.allowlist.empty())
        return failAt("/egress/allowlist", std::format("an allowlist has no meaning with tier \"{}\"", egress.tier));
    return {};
}

} // namespace

Result<EffectiveEgress> effectiveEgress(const std::optional<contract::Egress>& asked,
                                        const std::optional<contract::Agent>& agent,
                                        const std::vector<registry::PinnedSkill>& skills)
{
    if (asked && agent)
        return failAt("/egress",
                      "the agent's egress is the grant; leave egress out, or run the skills without an agent");
    EffectiveEgress out;
    if (agent)
        out.granted = agent->definition.egress;
    else if (asked)
        out.granted = *asked;
    if (auto valid = checkTier(out.granted); !valid)
        return forward(valid);
    if (out.granted.tier != "none")
        return refuse("egress_unavailable",
                      std::format("egress tier \"{}\" is granted, but no egress gateway runs on this server; use tier "
                                  "\"none\"",
                                  out.granted.tier));
    for (const auto& skill : skills)
        if (!skill.network.empty())
            out.declared.emplace(skill.name, skill.network);
    if (!out.declared.empty())
        out.clamped.emplace_back("tier");
    return out;
}

} // namespace assay::runs
