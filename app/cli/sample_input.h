// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/cli/command.h"

namespace assay::cli {

/// The options that give a script an input: `sample save` and `skill compare` share them.
struct SampleInputOptions
{
    std::string script;
    std::vector<std::string> arguments;
    std::string input;
    std::string standardInput;
};

void addSampleInputOptions(Command& command, SampleInputOptions& options);

/// The members of the API's body. `InvalidArgument` for an input that is not JSON or not UTF-8.
Result<json::object> sampleInputBody(const SampleInputOptions& options);

} // namespace assay::cli
