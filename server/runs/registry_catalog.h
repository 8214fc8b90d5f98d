// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/registry/agent_service.h"
#include "server/runs/catalog_port.h"

namespace assay::runs {

/// The registry of this server as runs see it. Thread-safe.
class RegistryCatalog final : public CatalogPort
{
public:
    RegistryCatalog(registry::SkillService& skills, registry::AgentService& agents) : m_skills(skills), m_agents(agents)
    {}
    Result<contract::Agent> agent(const auth::Identity& by, std::string_view name) override
    {
        return m_agents.find(by, name);
    }
    Result<std::vector<registry::PinnedSkill>> pin(std::string_view scopeFingerprint,
                                                   const std::vector<std::string>& names,
                                                   const std::map<std::string, std::string>& revisions) override
    {
        return m_skills.pin(scopeFingerprint, names, revisions);
    }
    Result<store::Bundle> bundle(std::string_view scopeFingerprint, const Digest& digest) override
    {
        return m_skills.bundle(scopeFingerprint, digest);
    }
    Result<void> readBundle(std::string_view scopeFingerprint, const Digest& digest,
                            const store::PieceSink& each) override
    {
        return m_skills.readBundle(scopeFingerprint, digest, each);
    }

private:
    registry::SkillService& m_skills;
    registry::AgentService& m_agents;
};

} // namespace assay::runs
