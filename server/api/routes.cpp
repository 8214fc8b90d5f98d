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
constexpr Roles kTalk = Roles(Role::Builder) | Role::Reviewer;
constexpr Roles kTry = Roles(Role::Runner) | Role::Reviewer;
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
constexpr std::array<std::string_view, 5> kProposalList{"page_size", "page_token", "state", "skill", "publisher"};
constexpr std::array<std::string_view, 3> kHistory{"page_size", "page_token", "at"};
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
    {Method::Post, "/v1/skills/{name}/revisions/{rev}/promote", kReview, promoteRevision, OptionalJson},
    {Method::Get, "/v1/skills/{name}/revisions/{rev}/capabilities", kReaders, getCapabilities},
    {Method::Get, "/v1/skills/{name}/diff", kReaders, getDiff, None, No, kDiff},
    {Method::Post, "/v1/skills/{name}/revisions/{rev}/withdraw", kReview, withdrawRevision, Json},

    {Method::Get, "/v1/skills/{name}/promotions", kReaders, listPromotions, None, No, kHistory},
    {Method::Get, "/v1/skills/{name}/samples", kReaders, listSamples},
    {Method::Get, "/v1/skills/{name}/samples/{sample}", kReaders, getSample},
    {Method::Put, "/v1/skills/{name}/samples/{sample}", kTalk, putSample, Json},
    {Method::Delete, "/v1/skills/{name}/samples/{sample}", kTalk, deleteSample},
    {Method::Post, "/v1/skills/{name}/comparisons", kTry, createComparison, Json, Kept},
    {Method::Get, "/v1/skills/{name}/comparisons/{id}", kReaders, getComparison},

    {Method::Get, "/v1/proposals", kReaders, listProposals, None, No, kProposalList},
    {Method::Get, "/v1/proposals/{id}", kReaders, getProposal},
    {Method::Get, "/v1/proposals/{id}/comments", kReaders, listComments, None, No, kPage},
    {Method::Post, "/v1/proposals/{id}/comments", kTalk, createComment, Json, Kept},
    {Method::Patch, "/v1/proposals/{id}/comments/{comment}", kTalk, patchComment, Json},
    {Method::Delete, "/v1/proposals/{id}/comments/{comment}", kTalk, deleteComment},
    {Method::Get, "/v1/proposals/{id}/reviews", kReaders, listReviews},
    {Method::Post, "/v1/proposals/{id}/reviews", kTalk, createReview, Json, Kept},
    {Method::Delete, "/v1/proposals/{id}/verdict", kReview, deleteVerdict},
    {Method::Post, "/v1/proposals/{id}/resolve", kTalk, resolveThread, Json},
    {Method::Post, "/v1/proposals/{id}/acknowledge", kReview, acknowledgeProposal, Json},
    {Method::Get, "/v1/proposals/{id}/viewed", kReaders, listViewed},
    {Method::Put, "/v1/proposals/{id}/viewed/{path...}", kReaders, putViewed},
    {Method::Delete, "/v1/proposals/{id}/viewed/{path...}", kReaders, deleteViewed},
    {Method::Post, "/v1/proposals/{id}/test-runs", kTry, startTestRuns, None, Kept},
    {Method::Post, "/v1/proposals/{id}/promote", kReview, promoteProposal, OptionalJson},
    {Method::Post, "/v1/proposals/{id}/withdraw", kTalk, withdrawProposal, Json},

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
    {Method::Get, "/v1/scope", kReaders, getOwnScope},
    {Method::Get, "/v1/scopes/{fingerprint}", kOperate, getScope},
    {Method::Patch, "/v1/scopes/{fingerprint}", kOperate, patchScope, Json},
    {Method::Get, "/v1/stops", kOperate, listStops, None, No, kPage},
    {Method::Post, "/v1/stops", kOperate, createStop, Json, Kept},
    {Method::Get, "/v1/stops/{digest}", kOperate, getStop},
    {Method::Delete, "/v1/stops/{digest}", kOperate, deleteStop},
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
