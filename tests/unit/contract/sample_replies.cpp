// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/contract/sample_replies.h"

#include "server/core/digest.h"

namespace assay::test {

using namespace assay::contract;

namespace {

const Timestamp kTime{std::chrono::milliseconds(1'795'000'000'123)};
const std::string kDigest = Digest::ofBytes("sample").text();
const std::string kRevision = "rev_01J00000000000000000000000";
const std::string kRun = "run_01J00000000000000000000000";

const std::string kScope = "sc_0123456789abcdef0123456789abcdef";

AuditEntry auditEntry()
{
    return {.scopeFingerprint = kScope,
            .seq = 42,
            .at = kTime,
            .actor = "ann",
            .actorType = "principal",
            .authSource = "token",
            .resourceType = "command",
            .resource = "cmd_01J00000000000000000000000",
            .operation = "command.execute",
            .decision = "terminated",
            .run = kRun,
            .reservation = 41,
            .occurrences = 1,
            .metadata = {.surface = "cli",
                         .cwd = "/workspace/out",
                         .reason = "role",
                         .exitCode = 137,
                         .termination = "timeout",
                         .baseDigest = kDigest,
                         .egressMode = "none",
                         .egressTotalBytes = 0,
                         .wallMs = 120'000,
                         .workspaceKib = 12},
            .previous = kDigest,
            .hash = kDigest};
}

Problem lint()
{
    return {.code = "crlf_script",
            .message = "a line ends in CR LF",
            .path = "scripts/a.sh",
            .line = 3,
            .column = 7,
            .client = "all"};
}

Skill skill()
{
    return {.name = "demo",
            .description = "Says \"hello\" \u2603",
            .labels = {{"team", "a"}},
            .currentRevision = kRevision,
            .revision = kRevision,
            .number = 3,
            .digest = kDigest,
            .fileCount = 2,
            .sizeBytes = 17,
            .validationStatus = "valid_with_lints",
            .lints = {lint()},
            .ignored = {".DS_Store"},
            .createdAt = kTime,
            .updatedAt = kTime};
}

Revision revision()
{
    return {.id = kRevision,
            .number = 3,
            .digest = kDigest,
            .fileCount = 2,
            .sizeBytes = 17,
            .validationStatus = "valid",
            .lints = {},
            .description = "d",
            .note = "n",
            .publisher = "tok_01J00000000000000000000000",
            .state = "withdrawn",
            .withdrawnReason = "leaks",
            .createdAt = kTime};
}

Agent agent()
{
    AgentDefinition definition{.name = "helper",
                               .skills = {"demo"},
                               .subagents = {{"sub", {"demo"}}},
                               .environment = "data",
                               .execution = "on",
                               .egress = {"allowlist", {"example.org:8443"}, 1000},
                               .limits = RunLimits{0.5, 1024, 16, 1000, 100, "terminate", 2048}};
    return {.definition = definition,
            .revision = kRevision,
            .number = 1,
            .digest = kDigest,
            .createdAt = kTime,
            .updatedAt = kTime,
            .warnings = {lint()}};
}

CommandResult command(std::string out)
{
    CommandResult result{.id = "cmd_01J00000000000000000000000",
                         .state = "ended",
                         .exitCode = 3,
                         .termination = "exited",
                         .stdoutBytes = std::move(out),
                         .stderrBytes = "e",
                         .droppedBytes = 0,
                         .wallMs = 5,
                         .cpuMs = 4,
                         .maxRssBytes = 4096,
                         .startedAt = kTime,
                         .endedAt = kTime};
    result.stdoutTotal = result.stdoutBytes.size();
    result.stderrTotal = 1;
    return result;
}

Artifact artifact() { return {"art_01J00000000000000000000000", kRun, "report.csv", kDigest, 12, "text/csv", kTime}; }

Run run()
{
    return {.id = kRun,
            .state = "succeeded",
            .agent = "helper",
            .subagent = "sub",
            .skills = {{"demo", kRevision, 3, kDigest}},
            .scopeFingerprint = "sc_0123456789abcdef0123456789abcdef",
            .manifestDigest = kDigest,
            .driver = "bubblewrap",
            .baseDigest = "host, unpinned",
            .session = true,
            .phases = {{"running", kTime, kTime}},
            .commands = {command("hi\n"), command("\xff")},
            .artifacts = {artifact()},
            .rejectedOutputs = {{"link", "not_a_regular_file"}},
            .outputCheck = OutputCheck{"fail",
                                       "assets/output-schema.json",
                                       "it does not fit",
                                       {{.code = {}, .message = "no string", .path = {}, .pointer = "/a"}}},
            .usage = RunUsage{1, 2, 3, 4, 5, 0.5, "hard"},
            .termination = "exited",
            .reason = "",
            .message = "",
            .createdAt = kTime,
            .endedAt = kTime};
}

Token token()
{
    return {"tok_01J00000000000000000000000",
            "ci",
            "sc_0123456789abcdef0123456789abcdef",
            "tok_01J00000000000000000000000",
            {"viewer", "runner"},
            kTime,
            kTime,
            std::nullopt};
}

Health health()
{
    return {.drivers = {{"bubblewrap", "ready", "", "", "hard", Handshake{true, kTime, 12, "the command answered"}}},
            .gateway = {"gateway", "disabled", "no gateway runs", "", "", {}},
            .store = {"store", "ready", "", "", "", {}},
            .base = {"base", "unavailable", "host, unpinned", "assayctl base build", "", {}}};
}

Capability capability() { return {"network", "api.example.org", "net.url", "scripts/a.py", 3, 2}; }

SkillDiff sampleDiff()
{
    const DiffSide side{kDigest, 17, true, "text", "text/plain", 2};
    const DiffLine removed{LineKind::Removed, 1, 0, "a\u00e9b", LineEnd::Crlf, 0, {{1, 1, 1, 1}}};
    const DiffLine added{LineKind::Added, 0, 1, "b", LineEnd::None, 9, {}};
    const DiffLine context{LineKind::Context, 2, 2, "", LineEnd::Lf, 0, {}};
    FileDiff renamed{
        .status = "renamed", .path = "b", .oldPath = "a", .similarity = 70, .oldSide = side, .newSide = side};
    renamed.content = "text";
    renamed.additions = 1;
    renamed.deletions = 1;
    renamed.hunks = {{1, 2, 1, 2, "# Heading", {removed, added, context}}};
    FileDiff large{.status = "added", .path = "c", .newSide = DiffSide{kDigest, 1, false, "asset", "image/png", {}}};
    large.content = "binary";
    return {"demo",
            revision(),
            revision(),
            {0, true, "b"},
            {{renamed, large}, {2, 1, 0, 0, 0, 1, 1, 1, false}},
            {{{capability(), "added"}}, 1, -5, 2}};
}

Proposal proposal()
{
    return {.id = "prop_01J00000000000000000000000",
            .skill = "demo",
            .subject = {kRevision, 3, kDigest},
            .publisher = "pat",
            .note = "n",
            .description = "d",
            .state = "open",
            .base = RevisionName{"rev_01J00000000000000000000001", 2, kDigest},
            .requiredApprovals = 2,
            .approvals = {{"ann", kDigest, kTime}},
            .changeRequests = {},
            .checks = {{"lints", "warn", "1 lint", false}},
            .blockers = {{.code = "approvals_missing", .message = "1 of 2 approvals by others than the publisher"}},
            .comments = 1,
            .unresolved = 1,
            .createdAt = kTime,
            .updatedAt = kTime};
}

Comment comment()
{
    return {.id = "cmt_01J00000000000000000000000",
            .author = "ann",
            .review = "rvw_01J00000000000000000000000",
            .path = "SKILL.md",
            .side = "old",
            .line = 3,
            .fileSha256 = kDigest,
            .text = "Why?",
            .createdAt = kTime,
            .updatedAt = kTime,
            .resolvedAt = kTime,
            .resolvedBy = "pat"};
}

Sample sample()
{
    return {.name = "small",
            .input = {.script = "scripts/a.py", .args = {"-v"}, .input = json::value(nullptr)},
            .expect = SampleExpectation{2, json::value("x")},
            .author = "ann",
            .createdAt = kTime,
            .updatedAt = kTime};
}

Comparison comparison()
{
    Comparison out{.id = "cmp_01J00000000000000000000000", .skill = "demo", .state = "ended"};
    out.fromRevision = kRevision;
    out.toRevision = kRevision;
    out.from = Run{.id = kRun, .state = "succeeded"};
    out.to = out.from;
    out.standardOutput = {false, true, {{"/n", "changed", json::value(1), json::value(2)}}, false};
    out.artifacts = {{"report.csv", "only_to", {}, artifact()}};
    out.startedBy = "ann";
    out.startedAt = kTime;
    return out;
}

Error refused()
{
    return {ErrorCode::Refused,
            "the skill is disabled",
            "not for clients",
            "skill_disabled",
            {{.code = "refused", .message = "see the run", .pointer = "/run/" + kRun}}};
}

} // namespace

std::vector<std::pair<std::string, json::object>> sampleReplies()
{
    Page<Skill> page{{skill()}, "next"};
    return {{"Skill", toJson(skill())},
            {"Skill-empty", toJson(Skill{})},
            {"SkillPage", pageJson(page)},
            {"Revision", toJson(revision())},
            {"RevisionFile", toJson(RevisionFile{"a.png", kDigest, 4, true, "asset", "image/png"})},
            {"CapabilityReport", toJson(CapabilityReport{1, {capability()}, 3})},
            {"CapabilityReport-empty", toJson(CapabilityReport{})},
            {"SkillDiff", toJson(sampleDiff())},
            {"SkillDiff-empty", toJson(SkillDiff{.skill = "demo", .to = revision()})},
            {"Verdict", toJson(Verdict{true, {}, {lint()}, kDigest, 1, 2, {}})},
            {"Verdict-empty", toJson(Verdict{.errors = {lint()}})},
            {"Agent", toJson(agent())},
            {"Agent-empty", toJson(Agent{})},
            {"Command", toJson(command("hi\n"))},
            {"Command-empty", toJson(CommandResult{.id = "cmd_01J00000000000000000000000", .state = "queued"})},
            {"Artifact", toJson(artifact())},
            {"Run", toJson(run(), RunDetail::Full)},
            {"Run-summary", toJson(run(), RunDetail::Summary)},
            {"Run-empty", toJson(Run{.id = kRun, .state = "queued"}, RunDetail::Full)},
            {"Token", toJson(token())},
            {"CreatedToken", toJson(CreatedToken{token(), "assay_shown-once"})},
            {"AuditEntry", toJson(auditEntry())},
            {"AuditEntry-empty", toJson(AuditEntry{.seq = 1,
                                                   .actorType = "anonymous",
                                                   .authSource = "none",
                                                   .resourceType = "server",
                                                   .operation = "request.authenticate",
                                                   .decision = "refused",
                                                   .previous = kDigest,
                                                   .hash = kDigest})},
            {"AuditAnchor", toJson(AuditAnchor{kScope, 7, kTime, kDigest, "0123456789abcdef", "c2lnbmF0dXJl"})},
            {"AuditExport", toJson(AuditExport{"assay-ledger-v1", kScope, true, "0123456789abcdef", "a2V5"})},
            {"AuditVerdict",
             toJson(AuditVerdict{false, 41, 2, AuditFault{kScope, 42, "changed"}, "0123456789abcdef", "a2V5"})},
            {"AuditVerdict-empty", toJson(AuditVerdict{.keyId = "0123456789abcdef", .publicKey = "a2V5"})},
            {"Health", toJson(health())},
            {"ServerInfo", toJson(ServerInfo{"0.1.0", {"runs"}, {{"wait_ms", 120000}}, {"http://127.0.0.1:8473"}})},
            {"Scope", toJson(ScopeSettings{"sc_0123456789abcdef0123456789abcdef",
                                           "reviewed",
                                           {"lints"},
                                           2,
                                           {.runs = 30, .artifacts = 0, .revisions = {}},
                                           kTime,
                                           "op",
                                           ""})},
            {"Scope-empty", toJson(ScopeSettings{.fingerprint = "sc_0123456789abcdef0123456789abcdef"})},
            {"Proposal", toJson(proposal(), ProposalDetail::Full)},
            {"ProposalSummary", toJson(proposal(), ProposalDetail::Summary)},
            {"Comment", toJson(comment())},
            {"Review", toJson(Review{"rvw_01J00000000000000000000000", "ann", "approve", kDigest, 2, kTime, kTime})},
            {"Promotion", toJson(Promotion{kTime, "ann", "withdraw", RevisionName{kRevision, 3, ""}, {}, "leaks"})},
            {"Stop", toJson(Stop{kDigest, "leaks", "op", kTime})},
            {"Sample", toJson(sample())},
            {"SampleRun", toJson(SampleRun{"small", "", "refused", "queue_full"})},
            {"Comparison", toJson(comparison())},
            {"Problem", problemDocument(refused(), "/v1/runs")}};
}

} // namespace assay::test
