// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/contract/agent.h"
#include "server/contract/capability.h"
#include "server/contract/collection.h"
#include "server/contract/diff.h"
#include "server/contract/health.h"
#include "server/contract/proposal.h"
#include "server/contract/run.h"
#include "server/contract/sample.h"
#include "server/contract/server_info.h"
#include "server/contract/skill.h"
#include "server/contract/token.h"
#include "server/core/json.h"

namespace assay::contract {

// The JSON form of every request and reply (openapi.yaml). Readers are strict (ObjectReader): `InvalidArgument` with
// JSON pointers. Writers keep one stable member order; a member that api.md lists is always there, `null` when it does
// not apply, and only what api.md marks with `?` may be absent. All functions are pure and thread-safe.

/// Is the name in the body (POST) or in the path (PUT)? A PUT body may repeat the path's name.
enum class NameFrom : std::uint8_t { Body, Path, Anywhere };
Result<PublishSkill> readPublishSkill(const json::value& body, NameFrom nameFrom, std::string_view pathName = {});
Result<PatchSkill> readPatchSkill(const json::value& body);
/// `{reason?}` of a promotion; `{reason, stop_runs?}` of a withdrawal; `{reason}` alone.
Result<PromoteRequest> readPromote(const json::value& body);
Result<WithdrawRequest> readWithdraw(const json::value& body);
Result<std::string> readReason(const json::value& body);
Result<NewStop> readNewStop(const json::value& body);
Result<NewComment> readNewComment(const json::value& body);
/// `{text}`
Result<std::string> readCommentText(const json::value& body);
Result<NewReview> readNewReview(const json::value& body);
Result<ResolveThread> readResolve(const json::value& body);
/// `{digest, base_digest?}`
Result<AcknowledgeRequest> readAcknowledge(const json::value& body);
Result<PutSample> readPutSample(const json::value& body);
Result<NewComparison> readNewComparison(const json::value& body);
/// `pathName` is empty for POST.
Result<AgentDefinition> readAgent(const json::value& body, std::string_view pathName = {});
Result<StartRun> readStartRun(const json::value& body);
Result<StartCommand> readStartCommand(const json::value& body);
Result<CreateToken> readCreateToken(const json::value& body);
/// `{dry_run?}` of a collection.
Result<bool> readCollect(const json::value& body);
Result<PatchScope> readPatchScope(const json::value& body);

/// Longest `wait_ms` of a request.
inline constexpr std::uint64_t kMaxWaitMs = 120'000;

json::object toJson(const Problem& problem);
json::object toJson(const Skill& skill);
json::object toJson(const Revision& revision);
json::object toJson(const RevisionFile& file);
json::object toJson(const Verdict& verdict);
json::object toJson(const SkillDiff& diff);
json::object toJson(const CapabilityReport& report);
json::object toJson(const CapabilityDiff& diff);
json::object toJson(const Agent& agent);
json::object toJson(const Egress& egress);
json::object toJson(const RunLimits& limits);
json::object toJson(const CommandResult& command);
json::object toJson(const Artifact& artifact);
json::object toJson(const Token& token);
json::object toJson(const CreatedToken& token);
json::object toJson(const Health& health);
json::object toJson(const CollectionReport& report);
json::object toJson(const ServerInfo& info);
json::object toJson(const ScopeSettings& settings);
/// A list tells no verdicts, checks and blockers.
enum class ProposalDetail : std::uint8_t { Summary, Full };
json::object toJson(const Proposal& proposal, ProposalDetail detail);
json::object toJson(const Comment& comment);
json::object toJson(const Review& review);
json::object toJson(const ViewedFile& file);
json::object toJson(const Promotion& promotion);
json::object toJson(const Stop& stop);
json::object toJson(const Sample& sample);
json::object toJson(const SampleRun& run);
json::object toJson(const Comparison& comparison);
/// The members of a sample that its author gave: also its stored form.
json::object sampleForm(const SampleInput& input, const std::optional<SampleExpectation>& expect);

/// A run's answer carries its commands' output up to this many bytes in all; a command beyond says
/// `output_omitted: true` and has its own address. In a list no output is carried.
inline constexpr std::uint64_t kRunOutputBytes = 4ULL << 20;
enum class RunDetail : std::uint8_t { Summary, Full };
json::object toJson(const Run& run, RunDetail detail);

/// The problem document (RFC 9457) of `error`; `instance` is the address that is told.
json::object problemDocument(const Error& error, std::string_view instance);

template <typename T, typename Each> json::object pageJson(const Page<T>& page, Each each)
{
    json::array items;
    items.reserve(page.items.size());
    for (const T& item : page.items)
        items.push_back(each(item));
    json::object out{{"items", std::move(items)}};
    if (page.nextPageToken)
        out["next_page_token"] = *page.nextPageToken;
    return out;
}

template <typename T> json::object pageJson(const Page<T>& page)
{
    return pageJson(page, [](const T& item) { return toJson(item); });
}

} // namespace assay::contract
