// SPDX-License-Identifier: Apache-2.0
#include "server/api/handlers.h"

#include <array>

namespace assay::api {

namespace {

using auth::kEveryRole;
using auth::kReaders;
using auth::Role;
using auth::Roles;

constexpr Roles kOpen{};
constexpr Roles kBuild{Role::Builder};
constexpr Roles kReview{Role::Reviewer};
constexpr Roles kRun{Role::Runner};
constexpr Roles kOperate{Role::Operator};
constexpr Roles kAudit = Roles(Role::Operator) | Role::Reviewer;
constexpr Roles kHandshake = Roles(Role::Operator) | Role::Runner;

constexpr std::array<std::string_view, 2> kPage{"page_size", "page_token"};
constexpr std::array<std::string_view, 5> kSkillList{"page_size", "page_token", "q", "enabled", "state"};
constexpr std::array<std::string_view, 6> kRunList{"page_size", "page_token", "state", "agent", "skill", "since"};
constexpr std::array<std::string_view, 9> kAuditList{"page_size", "page_token", "ledger", "decision", "operation",
                                                     "actor",     "run",        "since",  "until"};
constexpr std::array<std::string_view, 8> kAuditExport{"page_token", "ledger", "decision", "operation",
                                                       "actor",      "run",    "since",    "until"};
constexpr std::array<std::string_view, 1> kLedger{"ledger"};
constexpr std::array<std::string_view, 1> kFormat{"format"};
constexpr std::array<std::string_view, 1> kName{"name"};
constexpr std::array<std::string_view, 5> kDiff{"from", "to", "context", "ignore_whitespace", "path"};

using enum BodyKind;
using enum Replay;

constexpr Route kRoutes[] = {
    {Method::Get, "/v1/skills", kReaders, listSkills, None, No, kSkillList},
    {Method::Post, "/v1/skills", kBuild, createSkill, PackageJson, Kept},
    {Method::Post, "/v1/skills/validate", kBuild, validateSkill, Package, No, kName},
    {Method::Get, "/v1/skills/{name}", kReaders, getSkill},
    {Method::Put, "/v1/skills/{name}", kBuild, putSkill, Package},
    {Method::Patch, "/v1/skills/{name}", kBuild, patchSkill, Json},
    {Method::Delete, "/v1/skills/{name}", kBuild, deleteSkill},
    {Method::Get, "/v1/skills/{name}/revisions", kReaders, listRevisions, None, No, kPage},
    {Method::Get, "/v1/skills/{name}/revisions/{rev}", kReaders, getRevision},
    {Method::Get, "/v1/skills/{name}/revisions/{rev}/files", kReaders, listRevisionFiles},
    {Method::Get, "/v1/skills/{name}/revisions/{rev}/files/{path...}", kReaders, getRevisionFile},
    {Method::Get, "/v1/skills/{name}/revisions/{rev}/archive", kReaders, getArchive, None, No, kFormat},
    {Method::Get, "/v1/skills/{name}/revisions/{rev}/capabilities", kReaders, getCapabilities},
    {Method::Get, "/v1/skills/{name}/diff", kReaders, getDiff, None, No, kDiff},
    {Method::Post, "/v1/skills/{name}/revisions/{rev}/promote", kReview, promoteRevision},
    {Method::Post, "/v1/skills/{name}/revisions/{rev}/withdraw", kReview, withdrawRevision, Json},

    {Method::Get, "/v1/agents", kReaders, listAgents, None, No, kPage},
    {Method::Post, "/v1/agents", kBuild, createAgent, Json, Kept},
    {Method::Get, "/v1/agents/{name}", kReaders, getAgent},
    {Method::Put, "/v1/agents/{name}", kBuild, putAgent, Json},
    {Method::Delete, "/v1/agents/{name}", kBuild, deleteAgent},
    {Method::Get, "/v1/agents/{name}/revisions", kReaders, listAgentRevisions, None, No, kPage},

    {Method::Get, "/v1/runs", kReaders, listRuns, None, No, kRunList},
    {Method::Post, "/v1/runs", kRun, startRun, Run, Kept},
    {Method::Get, "/v1/runs/{id}", kReaders, getRun},
    {Method::Get, "/v1/runs/{id}/manifest", kReaders, getManifest},
    {Method::Get, "/v1/runs/{id}/events", kReaders, getRunEvents},
    {Method::Get, "/v1/runs/{id}/skills/{name}/files", kReaders, listRunSkillFiles},
    {Method::Get, "/v1/runs/{id}/skills/{name}/files/{path...}", kReaders, getRunSkillFile},
    {Method::Get, "/v1/runs/{id}/artifacts", kReaders, listArtifacts, None, No, kPage},
    {Method::Post, "/v1/runs/{id}/commands", kRun, startCommand, Run, Kept},
    {Method::Get, "/v1/runs/{id}/commands/{cmd}", kReaders, getCommand},
    {Method::Get, "/v1/runs/{id}/commands/{cmd}/stdout", kReaders, getCommandStdout},
    {Method::Get, "/v1/runs/{id}/commands/{cmd}/stderr", kReaders, getCommandStderr},
    {Method::Post, "/v1/runs/{id}/cancel", kRun, cancelRun},
    {Method::Post, "/v1/runs/{id}/finish", kRun, finishRun},
    {Method::Get, "/v1/artifacts/{id}", kReaders, getArtifact},
    {Method::Get, "/v1/artifacts/{id}/content", kReaders, getArtifactContent},

    {Method::Get, "/v1/audit", kAudit, listAudit, None, No, kAuditList},
    {Method::Get, "/v1/audit/export", kAudit, exportAudit, None, No, kAuditExport},
    {Method::Get, "/v1/audit/verify", kAudit, verifyAudit, None, No, kLedger},
    {Method::Get, "/v1/tokens", kOperate, listTokens, None, No, kPage},
    {Method::Post, "/v1/tokens", kOperate, createToken, Json, Sealed},
    {Method::Get, "/v1/tokens/{id}", kOperate, getToken},
    {Method::Delete, "/v1/tokens/{id}", kOperate, deleteToken},
    {Method::Post, "/v1/collections", kOperate, runCollection, Json},
    {Method::Get, "/v1/health", kEveryRole, getHealth},
    {Method::Post, "/v1/health/handshake", kHandshake, runHandshake},
    {Method::Get, "/v1/server", kEveryRole, getServer},
    {Method::Get, "/livez", kOpen, getLive},
    {Method::Get, "/readyz", kOpen, getReady},
    {Method::Get, "/openapi.json", kOpen, getOpenApi},
};

} // namespace

std::span<const Route> routeTable() { return kRoutes; }

} // namespace assay::api
