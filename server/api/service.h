// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/api/body_limits.h"
#include "server/api/exchange.h"
#include "server/api/health_reporter.h"
#include "server/audit/reader.h"
#include "server/audit/refusals.h"
#include "server/audit/verifier.h"
#include "server/auth/token_service.h"
#include "server/contract/server_info.h"
#include "server/core/metrics.h"
#include "server/registry/agent_service.h"
#include "server/registry/review/desk.h"
#include "server/registry/skill_service.h"
#include "server/retention/collection_service.h"
#include "server/runs/run_service.h"
#include "server/runs/sample_runs.h"

namespace assay::api {

/// Is told of each failure that a client sees, with the error's `detail`: for the log. `route` is a template, never a
/// raw path. Thread-safe.
class FailureLog
{
public:
    virtual ~FailureLog() = default;
    virtual void failed(std::string_view route, const Error& error) = 0;
    /// A request made this run: what ties their lines together.
    virtual void started(std::string_view /*run*/) {}
};

/// All that the routes work on; the composition root owns what is referred to, longer than the service lives.
struct Services
{
    registry::SkillService& skills;
    review::Desk& desk;
    registry::AgentService& agents;
    runs::RunService& runs;
    runs::SampleRuns& sampleRuns;
    auth::Authenticator& authenticator;
    auth::TokenService& tokens;
    HealthReporter& health;
    retention::CollectionService& collections;
    store::Database& database; ///< for kept answers (`Idempotency-Key`)
    const Clock& clock;
    registry::PackageLimits packageLimits;
    std::filesystem::path scratchDirectory; ///< where archives are unpacked, into unlinked files
    BodyLimits bodies;
    contract::ServerInfo info;
    FailureLog* log = nullptr;
    Metrics* metrics = nullptr;
    audit::Refusals* refusals = nullptr; ///< where refused requests are recorded; may be absent
    audit::Reader* audit = nullptr;      ///< without it and the verifier, the audit routes are `Unavailable`
    audit::Verifier* verifier = nullptr;
};

/// The API of api.md over `services`. Thread-safe.
std::unique_ptr<Service> makeService(Services services);

} // namespace assay::api
