// SPDX-License-Identifier: Apache-2.0
#include "server/contract/codec.h"
#include "server/contract/json_parts.h"
#include "server/contract/object_reader.h"

#include <array>

namespace assay::contract {

namespace {

constexpr std::array<std::string_view, 2> kSides{"old", "new"};
constexpr std::array<std::string_view, 3> kVerdicts{"approve", "request_changes", "comment"};
constexpr TextRule kText{.minBytes = 1, .maxBytes = 16'384};
constexpr TextRule kPath{.minBytes = 1, .maxBytes = 512};
constexpr TextRule kId{.minBytes = 1, .maxBytes = 64};
constexpr TextRule kDigest{.minBytes = 1, .maxBytes = 128};
constexpr TextRule kReason{.minBytes = 1, .maxBytes = 1024};
constexpr std::uint64_t kMaxLine = 100'000'000;
constexpr std::size_t kMaxBatch = 100;

void readCommentMembers(ObjectReader& in, NewComment& out)
{
    in.text("path", out.path, kPath)
        .text("side", out.side, {.oneOf = kSides})
        .count("line", out.line, 1, kMaxLine)
        .text("in_reply_to", out.inReplyTo, kId)
        .text("text", out.text, kText)
        .require("text");
    if (in.has("in_reply_to") && (in.has("path") || in.has("side") || in.has("line")))
        in.refuse("in_reply_to", "a reply stands where its thread stands: leave path, side and line out");
    if (!in.has("path") && (in.has("side") || in.has("line")))
        in.refuse("path", "a side or a line needs the path of a file");
    if (in.has("path") && out.side.empty())
        out.side = "new";
}

json::value nameOrNull(const std::optional<RevisionName>& name)
{
    if (!name)
        return nullptr;
    return json::object{{"revision", name->revision}, {"number", name->number}, {"digest", textOrNull(name->digest)}};
}

json::array verdictArray(const std::vector<StandingVerdict>& verdicts)
{
    json::array out;
    for (const StandingVerdict& verdict : verdicts)
        out.push_back(json::object{{"by", verdict.by}, {"digest", verdict.digest}, {"at", timeText(verdict.at)}});
    return out;
}

json::array checkArray(const std::vector<CheckState>& checks)
{
    json::array out;
    for (const CheckState& check : checks)
        out.push_back(json::object{
            {"id", check.id}, {"state", check.state}, {"summary", check.summary}, {"required", check.required}});
    return out;
}

} // namespace

Result<NewComment> readNewComment(const json::value& body)
{
    NewComment out;
    ObjectReader in(body);
    readCommentMembers(in, out);
    in.flag("draft", out.draft);
    return in.finish(std::move(out));
}

Result<std::string> readCommentText(const json::value& body)
{
    std::string text;
    ObjectReader in(body);
    in.text("text", text, kText).require("text");
    return in.finish(std::move(text));
}

Result<NewReview> readNewReview(const json::value& body)
{
    NewReview out;
    ObjectReader in(body);
    in.text("verdict", out.verdict, {.oneOf = kVerdicts})
        .require("verdict")
        .text("digest", out.digest, kDigest)
        .objects("comments", kMaxBatch,
                 [&](ObjectReader& comment) { readCommentMembers(comment, out.comments.emplace_back()); });
    return in.finish(std::move(out));
}

Result<ResolveThread> readResolve(const json::value& body)
{
    ResolveThread out;
    ObjectReader in(body);
    in.text("comment", out.comment, kId).require("comment").flag("resolved", out.resolved);
    return in.finish(std::move(out));
}

Result<AcknowledgeRequest> readAcknowledge(const json::value& body)
{
    AcknowledgeRequest out;
    ObjectReader in(body);
    in.text("digest", out.digest, kDigest).require("digest");
    std::optional<json::value> base;
    in.any("base_digest", base);
    if (base && base->is_null())
        out.baseDigest.emplace();
    else if (base)
        in.text("base_digest", out.baseDigest, kDigest);
    return in.finish(std::move(out));
}

Result<PromoteRequest> readPromote(const json::value& body)
{
    PromoteRequest out;
    ObjectReader in(body);
    in.text("reason", out.reason, kReason);
    return in.finish(std::move(out));
}

Result<WithdrawRequest> readWithdraw(const json::value& body)
{
    WithdrawRequest out;
    ObjectReader in(body);
    in.text("reason", out.reason, kReason).require("reason").flag("stop_runs", out.stopRuns);
    return in.finish(std::move(out));
}

Result<std::string> readReason(const json::value& body)
{
    std::string reason;
    ObjectReader in(body);
    in.text("reason", reason, kReason).require("reason");
    return in.finish(std::move(reason));
}

Result<NewStop> readNewStop(const json::value& body)
{
    NewStop out;
    ObjectReader in(body);
    in.text("digest", out.digest, kDigest).require("digest").text("reason", out.reason, kReason).require("reason");
    return in.finish(std::move(out));
}

json::object toJson(const Proposal& proposal, ProposalDetail detail)
{
    json::object out{{"id", proposal.id},
                     {"skill", proposal.skill},
                     {"revision", proposal.subject.revision},
                     {"number", proposal.subject.number},
                     {"digest", proposal.subject.digest},
                     {"publisher", proposal.publisher},
                     {"note", proposal.note},
                     {"description", proposal.description},
                     {"state", proposal.state},
                     {"base", nameOrNull(proposal.base)},
                     {"required_approvals", proposal.requiredApprovals},
                     {"comment_count", proposal.comments},
                     {"unresolved_count", proposal.unresolved},
                     {"created_at", timeText(proposal.createdAt)},
                     {"updated_at", timeText(proposal.updatedAt)},
                     {"closed_at", timeOrNull(proposal.closedAt)},
                     {"closed_by", textOrNull(proposal.closedBy)},
                     {"reason", textOrNull(proposal.reason)},
                     {"superseded_by", textOrNull(proposal.supersededBy)}};
    if (detail == ProposalDetail::Summary)
        return out;
    out["approvals"] = verdictArray(proposal.approvals);
    out["change_requests"] = verdictArray(proposal.changeRequests);
    out["checks"] = checkArray(proposal.checks);
    out["blockers"] = problemArray(proposal.blockers);
    return out;
}

json::object toJson(const Comment& comment)
{
    return {{"id", comment.id},
            {"author", comment.author},
            {"draft", comment.draft},
            {"review", textOrNull(comment.review)},
            {"path", textOrNull(comment.path)},
            {"side", textOrNull(comment.side)},
            {"line", valueOrNull(comment.line)},
            {"file_sha256", textOrNull(comment.fileSha256)},
            {"in_reply_to", textOrNull(comment.inReplyTo)},
            {"text", comment.text},
            {"created_at", timeText(comment.createdAt)},
            {"updated_at", timeText(comment.updatedAt)},
            {"resolved_at", timeOrNull(comment.resolvedAt)},
            {"resolved_by", textOrNull(comment.resolvedBy)}};
}

json::object toJson(const Review& review)
{
    return {{"id", review.id},
            {"author", review.author},
            {"verdict", review.verdict},
            {"digest", review.digest},
            {"comment_count", review.comments},
            {"created_at", timeText(review.createdAt)},
            {"withdrawn_at", timeOrNull(review.withdrawnAt)}};
}

json::object toJson(const ViewedFile& file) { return {{"path", file.path}, {"viewed_at", timeText(file.viewedAt)}}; }

json::object toJson(const Promotion& promotion)
{
    return {{"at", timeText(promotion.at)},   {"by", promotion.by},
            {"via", promotion.via},           {"from", nameOrNull(promotion.from)},
            {"to", nameOrNull(promotion.to)}, {"reason", textOrNull(promotion.reason)}};
}

json::object toJson(const Stop& stop)
{
    return {{"digest", stop.digest},
            {"reason", stop.reason},
            {"stopped_by", stop.stoppedBy},
            {"stopped_at", timeText(stop.stoppedAt)}};
}

} // namespace assay::contract
