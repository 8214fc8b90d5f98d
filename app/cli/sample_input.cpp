// SPDX-License-Identifier: Apache-2.0
#include "app/cli/sample_input.h"

#include "server/core/text.h"

namespace assay::cli {

namespace {

constexpr std::uint64_t kInputBytes = 1ULL << 20;

} // namespace

void addSampleInputOptions(Command& command, SampleInputOptions& options)
{
    command.option("--script", options.script, "Script of the skill, by its path in the package");
    command.list("--arg", options.arguments, "Argument for the script; repeat for more");
    command.option("--input", options.input, "File with JSON for its standard input, or -");
    command.option("--stdin", options.standardInput, "File with other text for it, or -");
    command.exclude("--input", "--stdin");
}

Result<json::object> sampleInputBody(const SampleInputOptions& options)
{
    json::object out;
    if (!options.script.empty())
        out["script"] = options.script;
    if (!options.arguments.empty())
        out["args"] = json::value_from(options.arguments);
    if (!options.input.empty()) {
        auto text = readInput(options.input, kInputBytes);
        if (!text)
            return forward(text);
        auto value = parseJson(*text);
        if (!value)
            return fail(ErrorCode::InvalidArgument,
                        "the input is not JSON: " + value.error().message + "; send other text with --stdin");
        out["input"] = std::move(*value);
    }
    if (!options.standardInput.empty()) {
        auto text = readInput(options.standardInput, kInputBytes);
        if (!text)
            return forward(text);
        if (!isUtf8(*text))
            return fail(ErrorCode::InvalidArgument, "what --stdin sends must be UTF-8 text");
        out["stdin"] = *text;
    }
    return out;
}

} // namespace assay::cli
