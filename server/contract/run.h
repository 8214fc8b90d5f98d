// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/contract/agent.h"
#include "server/core/json.h"

#include <map>

namespace assay::contract {

/// `command` of `POST /v1/runs`: a script of a pinned skill, or free `argv`.
struct RunCommand
{
    std::string skill;
    std::string script;
    std::vector<std::string> args;
    std::optional<json::value> input;     ///< becomes standard input as JSON text
    std::optional<std::string> stdinText; ///< excludes `input`
    std::map<std::string, std::string> env;
    std::vector<std::string> argv; ///< excludes skill and script
};

/// Body of `POST /v1/runs`.
struct StartRun
{
    std::string agent;                            ///< or
    std::vector<std::string> skills;              ///< exactly one of the two
    std::map<std::string, std::string> revisions; ///< of `skills`: what to pin instead of the current revision
    std::string subagent;                         ///< one that the agent declares: the run has its skills and no others
    std::optional<RunCommand> command;
    bool session = false;
    std::vector<std::string> outputs; ///< globs below /workspace/out; empty means {"**"}
    std::optional<RunLimits> limits;
    std::optional<Egress> egress;
    std::map<std::string, std::string> files; ///< placed below /workspace
    std::string driver;                       ///< empty: the server's choice
    std::optional<std::uint64_t> waitMs;
};

/// Body of `POST /v1/runs/{id}/commands`.
struct StartCommand
{
    std::vector<std::string> argv;
    std::string shell;    ///< excludes argv
    std::string subagent; ///< on whose behalf; only the run's own is taken
    std::optional<std::string> stdinText;
    std::map<std::string, std::string> env;
    std::string cwd; ///< absolute below /workspace, /tmp or /skills; empty: /workspace
    std::optional<std::uint64_t> timeoutMs;
    std::optional<std::uint64_t> waitMs;
};

struct CommandResult
{
    std::string id;
    std::string state; ///< "queued", "running" or "ended"
    std::optional<int> exitCode;
    std::optional<int> signal;
    std::string termination; ///< empty while it runs
    std::string stdoutBytes; ///< as kept: head, marker-free tail
    std::string stderrBytes;
    std::uint64_t stdoutTotal = 0;
    std::uint64_t stderrTotal = 0;
    std::uint64_t droppedBytes = 0;
    std::uint64_t wallMs = 0;
    std::uint64_t cpuMs = 0;
    std::uint64_t maxRssBytes = 0;
    std::optional<Timestamp> startedAt;
    std::optional<Timestamp> endedAt;
};

struct Phase
{
    std::string name;
    Timestamp startedAt;
    std::optional<Timestamp> endedAt;
};

struct Artifact
{
    std::string id;
    std::string run;
    std::string path; ///< relative to /workspace/out
    std::string sha256;
    std::uint64_t sizeBytes = 0;
    std::string mediaType;
    Timestamp createdAt;
};

struct RejectedOutput
{
    std::string path;
    std::string reason;
};

struct RunSkill
{
    std::string name;
    std::string revision;
    std::uint64_t number = 0;
    std::string digest;
};

struct RunUsage
{
    std::uint64_t cpuMs = 0;
    std::uint64_t wallMs = 0;
    std::uint64_t peakMemoryBytes = 0;
    std::uint64_t workspaceBytes = 0;
    std::uint64_t memoryLimitBytes = 0;
    double cpuLimit = 0;
    std::string limitsEnforcement; ///< "hard" (cgroup) or "soft" (rlimits and sampling)
};

/// What came of checking a script's standard output against the skill's schema (P8). It never changes the outcome.
struct OutputCheck
{
    /// "pass"; "fail"; "not_json"; "too_large" (some was dropped); "not_checked" (the script did not succeed);
    /// "unusable" (the schema, or the check itself).
    std::string state;
    std::string schema;          ///< the path of the schema in the package
    std::string message;         ///< in a sentence, unless it passed
    std::vector<Problem> errors; ///< of "fail": pointers into the output
};

struct Run
{
    std::string id;
    std::string state;
    std::string agent;
    std::string subagent;
    std::vector<RunSkill> skills;
    std::string scopeFingerprint;
    std::string manifestDigest;
    std::string driver;
    std::string baseDigest; ///< "sha256:..." or "host, unpinned"
    bool session = false;
    std::vector<Phase> phases;
    std::vector<CommandResult> commands;
    std::vector<Artifact> artifacts;
    std::vector<RejectedOutput> rejectedOutputs;
    std::optional<OutputCheck> outputCheck; ///< empty when no schema is declared
    std::optional<RunUsage> usage;
    std::string termination;
    std::string reason;
    std::string message; ///< the reason in a sentence
    Timestamp createdAt;
    std::optional<Timestamp> endedAt;
};

struct RunFilter
{
    std::string state;
    std::string agent;
    std::string skill;
    std::optional<Timestamp> since;
};

} // namespace assay::contract
