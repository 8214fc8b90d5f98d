// SPDX-License-Identifier: Apache-2.0
#include "server/contract/codec.h"
#include "server/contract/json_parts.h"
#include "server/contract/object_reader.h"

namespace assay::contract {

namespace {

constexpr TextRule kPath{.minBytes = 1, .maxBytes = 512};
constexpr TextRule kRevision{.minBytes = 1, .maxBytes = 64};
constexpr TextRule kName{.minBytes = 1, .maxBytes = 64};
constexpr ListRule kArguments{.maxItems = 256, .item = {.maxBytes = 16'384}};
constexpr TextRule kStdin{.maxBytes = 1U << 20, .nul = TextRule::Nul::Allowed};
constexpr ListRule kFiles{.maxItems = 100, .item = {.maxBytes = 1U << 20, .nul = TextRule::Nul::Allowed}};

/// Reads what stands directly in the body; `script` is required by the caller.
void readInput(ObjectReader& in, SampleInput& out)
{
    in.text("script", out.script, kPath)
        .texts("args", out.args, kArguments)
        .any("input", out.input)
        .text("stdin", out.stdinText, kStdin)
        .textMap("files", out.files, kFiles, kPath);
    if (in.has("input") && in.has("stdin"))
        in.refuse("stdin", "\"input\" is standard input as JSON: send one of them");
}

void readExpectation(ObjectReader& in, std::optional<SampleExpectation>& out)
{
    in.object("expect", [&](ObjectReader& expect) {
        SampleExpectation& wanted = out.emplace();
        std::optional<std::uint64_t> code;
        expect.count("exit_code", code, 0, 255).any("output", wanted.output);
        if (code)
            wanted.exitCode = static_cast<std::int64_t>(*code);
    });
}

json::object inputObject(const SampleInput& input)
{
    json::object out{{"script", input.script}, {"args", textArray(input.args)}, {"files", textObject(input.files)}};
    if (input.input)
        out["input"] = *input.input;
    if (input.stdinText)
        out["stdin"] = *input.stdinText;
    return out;
}

json::object expectationObject(const SampleExpectation& expect)
{
    json::object out;
    if (expect.exitCode)
        out["exit_code"] = *expect.exitCode;
    if (expect.output)
        out["output"] = *expect.output;
    return out;
}

json::object pairJson(const OutputPair& pair)
{
    json::array differences;
    for (const JsonDifference& difference : pair.differences) {
        json::object one{{"pointer", difference.pointer}, {"change", difference.change}};
        if (difference.from)
            one["from"] = *difference.from;
        if (difference.to)
            one["to"] = *difference.to;
        differences.push_back(std::move(one));
    }
    return {{"equal", pair.equal},
            {"both_json", pair.bothJson},
            {"differences", std::move(differences)},
            {"more_differences", pair.more}};
}

json::value sideOf(const std::optional<Artifact>& artifact)
{
    if (!artifact)
        return nullptr;
    return json::object{{"id", artifact->id}, {"sha256", artifact->sha256}, {"size_bytes", artifact->sizeBytes}};
}

json::array artifactPairs(const std::vector<ArtifactPair>& pairs)
{
    json::array out;
    for (const ArtifactPair& pair : pairs)
        out.push_back(json::object{
            {"path", pair.path}, {"status", pair.status}, {"from", sideOf(pair.from)}, {"to", sideOf(pair.to)}});
    return out;
}

} // namespace

json::object sampleForm(const SampleInput& input, const std::optional<SampleExpectation>& expect)
{
    json::object out = inputObject(input);
    if (expect)
        out["expect"] = expectationObject(*expect);
    return out;
}

Result<PutSample> readPutSample(const json::value& body)
{
    PutSample out;
    ObjectReader in(body);
    readInput(in, out.input);
    readExpectation(in, out.expect);
    in.require("script");
    return in.finish(std::move(out));
}

Result<NewComparison> readNewComparison(const json::value& body)
{
    NewComparison out;
    ObjectReader in(body);
    SampleInput input;
    in.text("from", out.from, kRevision)
        .require("from")
        .text("to", out.to, kRevision)
        .require("to")
        .text("sample", out.sample, kName);
    readInput(in, input);
    if (in.has("sample") == in.has("script"))
        in.refuse("", "send either a \"sample\", or a \"script\" with its input");
    if (in.has("sample") && (in.has("args") || in.has("input") || in.has("stdin") || in.has("files")))
        in.refuse("sample", "the input comes from the sample: leave args, input, stdin and files out");
    if (in.has("script"))
        out.input = std::move(input);
    return in.finish(std::move(out));
}

json::object toJson(const Sample& sample)
{
    json::object out{{"name", sample.name}};
    for (auto& member : sampleForm(sample.input, sample.expect))
        out[member.key()] = member.value();
    out["author"] = sample.author;
    out["created_at"] = timeText(sample.createdAt);
    out["updated_at"] = timeText(sample.updatedAt);
    return out;
}

json::object toJson(const SampleRun& run)
{
    return {
        {"sample", run.sample}, {"run", textOrNull(run.run)}, {"state", run.state}, {"reason", textOrNull(run.reason)}};
}

json::object toJson(const Comparison& comparison)
{
    return {{"id", comparison.id},
            {"skill", comparison.skill},
            {"sample", textOrNull(comparison.sample)},
            {"state", comparison.state},
            {"equal", comparison.state == "ended" ? json::value(comparison.equal) : json::value()},
            {"from",
             json::object{{"revision", comparison.fromRevision}, {"run", toJson(comparison.from, RunDetail::Full)}}},
            {"to", json::object{{"revision", comparison.toRevision}, {"run", toJson(comparison.to, RunDetail::Full)}}},
            {"stdout", pairJson(comparison.standardOutput)},
            {"stderr", pairJson(comparison.standardError)},
            {"artifacts", artifactPairs(comparison.artifacts)},
            {"started_by", comparison.startedBy},
            {"started_at", timeText(comparison.startedAt)}};
}

} // namespace assay::contract
