// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/cli/command.h"

namespace assay::cli {

/// The options that give a script an input: `sample save` and `skill compare` share them.
struct ScriptInputOptions
{
    std::string script;
    std::vector<std::string> arguments;
    std::string input;
    std::string standardInput;
};

void addScriptInputOptions(Command& command, ScriptInputOptions& options);

/// Adds what a script reads: `input`, a file with JSON, or `stdin`, one with other text ("-" is standard input; empty:
/// none). `InvalidArgument` when it is not JSON, or not UTF-8.
Result<void> addStandardInput(json::object& body, const std::string& input, const std::string& standardInput,
                              std::uint64_t limitBytes);

/// The members of the API's body. `InvalidArgument` for an input that is not JSON or not UTF-8.
Result<json::object> scriptInputBody(const ScriptInputOptions& options);

} // namespace assay::cli
