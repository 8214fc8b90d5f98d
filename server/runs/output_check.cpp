// SPDX-License-Identifier: Apache-2.0
#include "server/runs/output_check.h"

#include "server/core/json.h"

#include <format>

namespace assay::runs {

contract::OutputCheck checkOutput(const SchemaCheck& check, const PlannedSchema& schema,
                                  const sandbox::CommandResult& result)
{
    const auto told = [&](std::string state, std::string message) {
        return contract::OutputCheck{
            .state = std::move(state), .schema = schema.path, .message = std::move(message), .errors = {}};
    };
    if (result.termination != sandbox::Termination::Exited || result.exitCode != 0)
        return told("not_checked", "the script did not succeed, so its output was not checked");
    const sandbox::CapturedOutput& out = result.out;
    if (out.droppedBytes() > 0)
        return told("too_large", std::format("the script wrote {} bytes, more than are kept, so its output could not "
                                             "be checked",
                                             out.totalBytes));
    const std::string text = out.head + out.tail;
    if (const auto parsed = parseJson(text); !parsed)
        return told("not_json", "the script's standard output is not one JSON text: " + parsed.error().message);
    const auto checked = check(schema.text, text, "");
    if (checked)
        return told("pass", "");
    if (checked.error().code != ErrorCode::InvalidArgument)
        return told("unusable", checked.error().message);
    contract::OutputCheck failed = told("fail", "the script's output does not fit the schema that the skill declares");
    failed.errors = checked.error().problems;
    return failed;
}

} // namespace assay::runs
