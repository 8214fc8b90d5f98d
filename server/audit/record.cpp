// SPDX-License-Identifier: Apache-2.0
#include "server/audit/record.h"

#include <algorithm>
#include <array>

namespace assay::audit {

namespace {

using namespace std::string_view_literals;

// In the order of the enumerators.
constexpr std::array kOperations{"skill.publish"sv,
                                 "skill.patch"sv,
                                 "skill.delete"sv,
                                 "revision.promote"sv,
                                 "revision.withdraw"sv,
                                 "revision.stop"sv,
                                 "agent.create"sv,
                                 "agent.replace"sv,
                                 "agent.delete"sv,
                                 "token.create"sv,
                                 "token.revoke"sv,
                                 "run.start"sv,
                                 "run.cancel"sv,
                                 "command.execute"sv,
                                 "handshake"sv,
                                 "proposal.approve"sv,
                                 "proposal.request_changes"sv,
                                 "proposal.retract"sv,
                                 "proposal.acknowledge"sv,
                                 "proposal.review"sv,
                                 "sample.put"sv,
                                 "sample.delete"sv,
                                 "scope.configure"sv,
                                 "content.stop"sv,
                                 "content.resume"sv,
                                 "collection.run"sv,
                                 "store.cutover"sv,
                                 "session.open"sv,
                                 "request.authenticate"sv,
                                 "request.authorize"sv};
constexpr std::array kDecisions{"allowed"sv, "refused"sv, "executed"sv, "terminated"sv, "outcome_unknown"sv};
constexpr std::array kActorTypes{"principal"sv, "token"sv, "server"sv, "anonymous"sv};
constexpr std::array kAuthSources{"token"sv, "ingress"sv, "local"sv, "server"sv, "none"sv};
constexpr std::array kResourceTypes{"skill"sv,    "revision"sv, "agent"sv,   "token"sv, "run"sv,   "command"sv,
                                    "proposal"sv, "driver"sv,   "content"sv, "route"sv, "server"sv};

static_assert(kOperations.size() == static_cast<std::size_t>(Operation::RequestAuthorize) + 1);
static_assert(kDecisions.size() == static_cast<std::size_t>(Decision::OutcomeUnknown) + 1);
static_assert(kActorTypes.size() == static_cast<std::size_t>(ActorType::Anonymous) + 1);
static_assert(kAuthSources.size() == static_cast<std::size_t>(AuthSource::None) + 1);
static_assert(kResourceTypes.size() == static_cast<std::size_t>(ResourceType::Server) + 1);

} // namespace

std::string_view nameOf(Operation operation) { return kOperations.at(static_cast<std::size_t>(operation)); }
std::string_view nameOf(Decision decision) { return kDecisions.at(static_cast<std::size_t>(decision)); }
std::string_view nameOf(ActorType type) { return kActorTypes.at(static_cast<std::size_t>(type)); }
std::string_view nameOf(AuthSource source) { return kAuthSources.at(static_cast<std::size_t>(source)); }
std::string_view nameOf(ResourceType type) { return kResourceTypes.at(static_cast<std::size_t>(type)); }

bool isOperation(std::string_view name) { return std::ranges::contains(kOperations, name); }
bool isDecision(std::string_view name) { return std::ranges::contains(kDecisions, name); }

Record recordBy(const auth::Identity& by, Operation operation, Decision decision, ResourceType type,
                std::string resource)
{
    const bool hasToken = !by.tokenId.empty();
    Record out{.scopeFingerprint = by.scopeFingerprint,
               .actor = by.principal,
               .actorType = hasToken && by.principal == by.tokenId ? ActorType::Token : ActorType::Principal,
               .authSource = hasToken ? AuthSource::Token : AuthSource::Ingress,
               .resourceType = type,
               .resource = std::move(resource),
               .operation = operation,
               .decision = decision};
    if (by.surface == auth::Surface::Local)
        out.authSource = AuthSource::Local;
    out.metadata.surface = auth::nameOf(by.surface);
    return out;
}

Record recordByServer(std::string scopeFingerprint, Operation operation, Decision decision, ResourceType type,
                      std::string resource)
{
    Record out{.scopeFingerprint = std::move(scopeFingerprint),
               .actor = "server",
               .actorType = ActorType::Server,
               .authSource = AuthSource::Server,
               .resourceType = type,
               .resource = std::move(resource),
               .operation = operation,
               .decision = decision};
    out.metadata.surface = auth::nameOf(auth::Surface::Server);
    return out;
}

std::string revisionResource(std::string_view skill, std::string_view revision)
{
    return std::string(skill) + "@" + std::string(revision);
}

} // namespace assay::audit
