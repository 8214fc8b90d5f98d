// SPDX-License-Identifier: Apache-2.0
#pragma once

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

/// The largest bodies that are read, in bytes; the operator's settings.
struct BodyLimits
{
    std::uint64_t json = 1ULL << 20;
    /// A package as JSON: its 50 MiB with base64 and escapes.
    std::uint64_t packageJson = 80ULL << 20;
    std::uint64_t archive = 64ULL << 20;
    /// A run or a command: input, standard input and files.
    std::uint64_t run = 16ULL << 20;
};

/// Is told of each failure that a client sees, with the error's `detail`: for the log. `route` is a template, never a
/// raw path. Thread-safe.
class FailureLog
{
public:
    virtual ~FailureLog() = default;
    virtual void failed(std::string_view route, const Error& error) = 0;
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
