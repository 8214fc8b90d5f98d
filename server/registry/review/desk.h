// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/registry/review/history.h"
#include "server/registry/review/proposals.h"
#include "server/registry/review/samples.h"
#include "server/registry/review/scope_settings.h"
#include "server/registry/review/stops.h"

namespace assay::review {

/// The review desk: everything of this folder that the API calls, and the checks that it judges by. Made before the
/// skills' service, which shares the checks; they are added to before the server serves. Thread-safe then.
class Desk
{
public:
    Desk(store::Database& database, store::SkillPackageStore& packages, const Clock& clock)
        : m_scopes(database, clock, *m_checks),
          m_proposals(database, packages, clock, *m_checks),
          m_history(database),
          m_samples(database, clock),
          m_stops(database, clock)
    {}

    const std::shared_ptr<CheckRegistry>& checks() const { return m_checks; }
    ScopeSettings& scopes() { return m_scopes; }
    Proposals& proposals() { return m_proposals; }
    History& history() { return m_history; }
    Samples& samples() { return m_samples; }
    Stops& stops() { return m_stops; }

private:
    std::shared_ptr<CheckRegistry> m_checks = std::make_shared<CheckRegistry>();
    ScopeSettings m_scopes;
    Proposals m_proposals;
    History m_history;
    Samples m_samples;
    Stops m_stops;
};

} // namespace assay::review
