// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/auth/identity.h"
#include "server/core/error.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace assay::audit {

/// What was decided about. The dotted name is what the ledger holds (docs/ledger.md).
enum class Operation : std::uint8_t {
    SkillPublish,
    SkillPatch,
    SkillDelete,
    RevisionPromote,
    RevisionWithdraw,
    RevisionStop,
    AgentCreate,
    AgentReplace,
    AgentDelete,
    TokenCreate,
    TokenRevoke,
    RunStart,
    RunCancel,
    CommandExecute,
    Handshake,
    ProposalApprove,
    ProposalRequestChanges,
    ProposalRetract, ///< a verdict was taken back
    ProposalAcknowledge,
    ProposalReview, ///< a refused one whose verdict is not known, or is none
    SamplePut,
    SampleDelete,
    ScopeConfigure,
    ContentStop, ///< in every scope
    ContentResume,
    CollectionRun,
    StoreCutover,
    SessionOpen,         ///< a sealed session that was refused
    RequestAuthenticate, ///< a request without a valid token
    RequestAuthorize,    ///< a request whose role does not suffice, for what has no operation of its own
};

/// `Allowed` of a command is its reservation; how it ended is a row of its own that refers to it.
enum class Decision : std::uint8_t { Allowed, Refused, Executed, Terminated, OutcomeUnknown };

enum class ActorType : std::uint8_t { Principal, Token, Server, Anonymous };
enum class AuthSource : std::uint8_t { Token, Ingress, Local, Server, None };

/// What `resource` names, and so which form it must have.
enum class ResourceType : std::uint8_t {
    Skill,    ///< its name
    Revision, ///< "skill@rev_..."
    Agent,    ///< its name
    Token,    ///< "tok_..."
    Run,      ///< "run_..."
    Command,  ///< "cmd_..."
    Proposal, ///< "prop_..."
    Driver,   ///< its name
    Content,  ///< "sha256:..."
    Route,    ///< "POST:/v1/skills/{name}", a template
    Server,   ///< nothing
};

/// The ten keys, and no eleventh. Absent numbers and empty texts are not known.
struct Metadata
{
    std::string surface;
    std::string cwd;
    std::string reason; ///< a stable word; never what a person wrote
    std::optional<std::int64_t> exitCode;
    std::string termination;
    std::string baseDigest;
    std::string egressMode;
    std::optional<std::int64_t> egressTotalBytes;
    std::optional<std::int64_t> wallMs;
    std::optional<std::int64_t> workspaceKib;

    bool operator==(const Metadata&) const = default;
};

/// One decision (E6). A value; everything in it that does not have its form is written as "other", so no command text,
/// host, token or raw scope value gets in by way of a caller's mistake.
struct Record
{
    std::string scopeFingerprint; ///< empty: the server's own ledger
    std::string actor;
    ActorType actorType = ActorType::Principal;
    AuthSource authSource = AuthSource::Token;
    ResourceType resourceType = ResourceType::Server;
    std::string resource;
    Operation operation = Operation::RequestAuthorize;
    Decision decision = Decision::Allowed;
    std::string run; ///< "run_..." or empty
    Metadata metadata;
    std::uint64_t occurrences = 1; ///< above 1: this many alike, folded into one row
};

/// A record of `by`'s decision in `by`'s scope, with its surface.
Record recordBy(const auth::Identity& by, Operation operation, Decision decision, ResourceType type,
                std::string resource);

/// The same by the server itself; `scopeFingerprint` may be empty.
Record recordByServer(std::string scopeFingerprint, Operation operation, Decision decision, ResourceType type,
                      std::string resource);

std::string_view nameOf(Operation operation);
std::string_view nameOf(Decision decision);
std::string_view nameOf(ActorType type);
std::string_view nameOf(AuthSource source);
std::string_view nameOf(ResourceType type);

/// Is there an operation, a decision of this name? What a filter asks for.
bool isOperation(std::string_view name);
bool isDecision(std::string_view name);

/// "skill@rev_...", the resource of a revision.
std::string revisionResource(std::string_view skill, std::string_view revision);

} // namespace assay::audit
