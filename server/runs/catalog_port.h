// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/auth/identity.h"
#include "server/contract/agent.h"
#include "server/registry/skill_service.h"

#include <map>
#include <string>
#include <vector>

namespace assay::runs {

/// The few things a run needs to know from the registry, always in one exact scope. Thread-safe; calls block.
class CatalogPort
{
public:
    virtual ~CatalogPort() = default;
    /// The agent's current revision; `NotFound` when this scope has none of that name.
    virtual Result<contract::Agent> agent(const auth::Identity& by, std::string_view name) = 0;
    /// See registry::SkillService::pin.
    virtual Result<std::vector<registry::PinnedSkill>> pin(std::string_view scopeFingerprint,
                                                           const std::vector<std::string>& names,
                                                           const std::map<std::string, std::string>& revisions) = 0;
    /// See registry::SkillService::bundle.
    virtual Result<store::Bundle> bundle(std::string_view scopeFingerprint, const Digest& digest) = 0;
    /// See registry::SkillService::readBundle.
    virtual Result<void> readBundle(std::string_view scopeFingerprint, const Digest& digest,
                                    const store::PieceSink& each)
    {
        auto whole = bundle(scopeFingerprint, digest);
        return whole ? each(whole->bytes()) : Result<void>(forward(whole));
    }
};

} // namespace assay::runs
