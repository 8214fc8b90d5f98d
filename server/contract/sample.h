// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/contract/run.h"

namespace assay::contract {

/// What a sample's run must give; absent members are not looked at.
struct SampleExpectation
{
    std::optional<std::int64_t> exitCode;
    std::optional<json::value> output; ///< equal to standard output as JSON; a string also to its bytes
};

/// An input of one of a skill's scripts: saved as a sample, or given for one comparison.
struct SampleInput
{
    std::string script;
    std::vector<std::string> args;
    std::optional<json::value> input;
    std::optional<std::string> stdinText; ///< excludes `input`
    std::map<std::string, std::string> files;
};

struct Sample
{
    std::string name;
    SampleInput input;
    std::optional<SampleExpectation> expect;
    std::string author;
    Timestamp createdAt;
    Timestamp updatedAt;
    std::string etag; ///< header only
};

/// Body of `PUT /v1/skills/{name}/samples/{sample}`.
struct PutSample
{
    SampleInput input;
    std::optional<SampleExpectation> expect;
};

/// Body of `POST /v1/skills/{name}/comparisons`.
struct NewComparison
{
    std::string from; ///< a revision's id, or "current"
    std::string to;
    std::string sample;               ///< or
    std::optional<SampleInput> input; ///< exactly one of the two
};

/// One run of a sample for a proposal.
struct SampleRun
{
    std::string sample;
    std::string run;
    std::string state; ///< the run's, or "refused"
    std::string reason;
};

/// One file of the two runs' results.
struct ArtifactPair
{
    std::string path;
    std::string status; ///< "equal", "differs", "only_from" or "only_to"
    std::optional<Artifact> from;
    std::optional<Artifact> to;
};

/// One difference of two JSON texts.
struct JsonDifference
{
    std::string pointer; ///< RFC 6901
    std::string change;  ///< "added", "removed" or "changed"
    std::optional<json::value> from;
    std::optional<json::value> to;
};

/// Two streams of output side by side.
struct OutputPair
{
    bool equal = false;
    bool bothJson = false;
    std::vector<JsonDifference> differences; ///< when both are JSON
    bool more = false;                       ///< there are differences beyond the listed ones
};

/// Two runs of two revisions on one input (B10).
struct Comparison
{
    std::string id;
    std::string skill;
    std::string sample;
    std::string state; ///< "running" until both runs have ended, then "ended"
    std::string fromRevision;
    std::string toRevision;
    Run from;
    Run to;
    bool equal = false; ///< ended alike, with the same exit, output and artifacts
    OutputPair standardOutput;
    OutputPair standardError;
    std::vector<ArtifactPair> artifacts;
    std::string startedBy;
    Timestamp startedAt;
};

} // namespace assay::contract
