// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/cli/commands.h"

namespace assay::cli {

/// Makes `run(context, options)` what happens when `command` is on the command line.
template <typename Options>
void onCommand(Command command, Context& context, std::shared_ptr<Options> options,
               Result<int> (*run)(Context&, const Options&))
{
    command.onParsed([&context, options = std::move(options), run] {
        context.action = [&context, options, run] { return run(context, *options); };
    });
}

/// A labelled line of a description: "  digest      sha256:...". Nothing for an empty value.
std::string labelled(std::string_view label, std::string_view value);

/// Findings of an answer's array `member` ("lints", "warnings"), one a line.
std::string findingLines(const json::value& answer, std::string_view member, std::string_view folder);

} // namespace assay::cli
