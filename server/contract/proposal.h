// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/contract/review.h"

namespace assay::contract {

/// A revision as proposals and the history name it.
struct RevisionName
{
    std::string revision;
    std::uint64_t number = 0;
    std::string digest;
};

/// Somebody's verdict that stands.
struct StandingVerdict
{
    std::string by;
    std::string digest; ///< what was judged: it counts for nothing else
    Timestamp at;
};

/// A proposal to make a revision current (api.md, "Proposals"; docs/review.md).
struct Proposal
{
    std::string id;
    std::string skill;
    RevisionName subject;
    std::string publisher;
    std::string note;
    std::string description;
    std::string state;                ///< "open", "approved", "promoted", "superseded" or "withdrawn"
    std::optional<RevisionName> base; ///< what is current, or was when the proposal closed
    std::uint64_t requiredApprovals = 1;
    std::vector<StandingVerdict> approvals;
    std::vector<StandingVerdict> changeRequests;
    std::vector<CheckState> checks;
    std::vector<Problem> blockers; ///< what stands in the way of a promotion, whoever asks; each `code` is a reason
    std::uint64_t comments = 0;
    std::uint64_t unresolved = 0;
    Timestamp createdAt;
    Timestamp updatedAt;
    std::optional<Timestamp> closedAt;
    std::string closedBy;
    std::string reason;
    std::string supersededBy;
    std::string etag; ///< header only; of everything above
};

struct ProposalFilter
{
    std::string state;
    std::string skill;
    std::string publisher;
};

/// One comment as it is asked for: on the proposal, on a file, on a line of one side, or in reply.
struct NewComment
{
    std::string path;
    std::string side; ///< "old" or "new"; "new" when a path comes without
    std::optional<std::uint64_t> line;
    std::string inReplyTo;
    std::string text;
    bool draft = false; ///< not of a batch
};

struct Comment
{
    std::string id;
    std::string author;
    bool draft = false;
    std::string review; ///< the batch it came with
    std::string path;
    std::string side;
    std::optional<std::uint64_t> line;
    std::string fileSha256; ///< of the file that it is about
    std::string inReplyTo;
    std::string text;
    Timestamp createdAt;
    Timestamp updatedAt;
    std::optional<Timestamp> resolvedAt;
    std::string resolvedBy;
};

/// Body of `POST /v1/proposals/{id}/reviews`.
struct NewReview
{
    std::string verdict; ///< "approve", "request_changes" or "comment"
    std::string digest;  ///< what was looked at; refused when the proposal is about another
    std::vector<NewComment> comments;
};

struct Review
{
    std::string id;
    std::string author;
    std::string verdict;
    std::string digest;
    std::uint64_t comments = 0;
    Timestamp createdAt;
    std::optional<Timestamp> withdrawnAt;
};

struct ViewedFile
{
    std::string path;
    Timestamp viewedAt;
};

/// One move of a skill's current pointer.
struct Promotion
{
    Timestamp at;
    std::string by;
    std::string via;                  ///< "publish", "promote", "rollback", "withdraw", "stop" or "delete"
    std::optional<RevisionName> from; ///< without digest
    std::optional<RevisionName> to;
    std::string reason;
};

/// Body of an acknowledgement: `{digest, base_digest?}`, as the caller saw the proposal.
struct AcknowledgeRequest
{
    std::string digest;
    std::optional<std::string> baseDigest = {}; ///< empty text: nothing was current; absent: not told
};

/// Body of the promotions: `{reason?}`.
struct PromoteRequest
{
    std::string reason;
};

/// Body of the withdrawals.
struct WithdrawRequest
{
    std::string reason;
    bool stopRuns = false; ///< emergency stop: also cancel what runs it
};

/// Body of `POST /v1/proposals/{id}/resolve`.
struct ResolveThread
{
    std::string comment; ///< any of the thread
    bool resolved = true;
};

/// Body of `POST /v1/stops`.
struct NewStop
{
    std::string digest;
    std::string reason;
};

/// A digest that the operator stopped in every scope.
struct Stop
{
    std::string digest;
    std::string reason;
    std::string stoppedBy;
    Timestamp stoppedAt;
};

} // namespace assay::contract
