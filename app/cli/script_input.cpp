// SPDX-License-Identifier: Apache-2.0
#include "app/cli/script_input.h"

#include "server/core/text.h"

namespace assay::cli {

namespace {

constexpr std::uint64_t kInputBytes = 1ULL << 20;

} // namespace

void addScriptInputOptions(Command& command, ScriptInputOptions& options)
{
    command.option("--script", options.script, "Script of the skill, by its path in the package");
    command.list("--arg", options.arguments, "Argument for the script; repeat for more");
    command.option("--input", options.input, "File with JSON for its standard input, or -");
    command.option("--stdin", options.standardInput, "File with other text for it, or -");
    command.exclude("--input", "--stdin");
}

Result<void> addStandardInput(json::object& body, const std::string& input, const std::string& standardInput,
                              std::uint64_t limitBytes)
{
    if (!input.empty()) {
        auto text = readInput(input, limitBytes);
        if (!text)
            return forward(text);
        auto value = parseJson(*text);
        if (!value)
            return fail(ErrorCode::InvalidArgument,
                        "the input is not JSON: " + value.error().message + "; send other text with --stdin");
        body["input"] = std::move(*value);
    }
    if (!standardInput.empty()) {
        auto text = readInput(standardInput, limitBytes);
        if (!text)
            return forward(text);
        if (!isUtf8(*text))
            return fail(ErrorCode::InvalidArgument, "what --stdin sends must be UTF-8 text");
        body["stdin"] = *text;
    }
    return {};
}

Result<json::object> scriptInputBody(const ScriptInputOptions& options)
{
    json::object out;
    if (!options.script.empty())
        out["script"] = options.script;
    if (!options.arguments.empty())
        out["args"] = json::value_from(options.arguments);
    if (auto added = addStandardInput(out, options.input, options.standardInput, kInputBytes); !added)
        return forward(added);
    return out;
}

} // namespace assay::cli
