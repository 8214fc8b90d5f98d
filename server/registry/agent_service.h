// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/audit/ledger.h"
#include "server/auth/identity.h"
#include "server/contract/agent.h"
#include "server/core/clock.h"
#include "server/store/database.h"

namespace assay::registry {

/// Agent definitions with revisions of their own, in one exact scope. Thread-safe; calls block.
class AgentService
{
public:
    AgentService(store::Database& database, const Clock& clock);

    struct Saved
    {
        contract::Agent agent;
        bool created = false;
    };
    /// Creates or replaces; equal definitions make no revision. `createOnly`: `Conflict` when it exists. Attaching a
    /// skill that the scope does not have, or a subagent's skill that the agent does not have, is `InvalidArgument`.
    Result<Saved> save(const auth::Identity& by, contract::AgentDefinition definition, bool createOnly,
                       const std::optional<std::string>& ifMatch);
    Result<contract::Page<contract::Agent>> list(const auth::Identity& by, const contract::PageRequest& page);
    Result<contract::Agent> find(const auth::Identity& by, std::string_view name);
    Result<contract::Page<contract::Agent>> revisions(const auth::Identity& by, std::string_view name,
                                                      const contract::PageRequest& page);
    Result<void> remove(const auth::Identity& by, std::string_view name, const std::optional<std::string>& ifMatch);

private:
    store::Database& m_database;
    const Clock& m_clock;
    audit::Ledger m_ledger{m_database, m_clock};
};

} // namespace assay::registry
