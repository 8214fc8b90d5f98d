// SPDX-License-Identifier: Apache-2.0
#include "app/cli/script_input.h"

namespace assay::cli {

namespace {

constexpr std::uint64_t kOutputBytes = 256ULL << 10;

struct Options
{
    std::string skill;
    std::string name;
    ScriptInputOptions input;
    std::uint64_t exitCode = 0;
    std::string output;
};

Result<void> addExpectation(json::object& body, const Options& options)
{
    json::object expect;
    if (options.exitCode > 0)
        expect["exit_code"] = options.exitCode;
    if (!options.output.empty()) {
        auto text = readInput(options.output, kOutputBytes);
        if (!text)
            return forward(text);
        auto value = parseJson(*text);
        expect["output"] = value ? std::move(*value) : json::value(*text);
    }
    if (!expect.empty())
        body["expect"] = std::move(expect);
    return {};
}

Result<int> save(Context& context, const Options& options)
{
    auto api = context.api();
    if (!api)
        return forward(api);
    auto body = scriptInputBody(options.input);
    if (!body)
        return forward(body);
    if (auto added = addExpectation(*body, options); !added)
        return forward(added);
    const std::string text = json::serialize(*body);
    HttpRequest request;
    request.method = "PUT";
    request.target = pathOf({"v1", "skills", options.skill, "samples", options.name});
    request.contentType = "application/json";
    request.body = text;
    auto answer = (*api)->send(std::move(request));
    if (!answer)
        return forward(answer);
    context.print(answer->body, [&](const json::value& sample) {
        return "saved the sample " + plain(textOf(sample, "name")) + " of " + plain(options.skill) + '\n';
    });
    return kDone;
}

} // namespace

void addSampleSave(Command& parent, Context& context)
{
    auto options = std::make_shared<Options>();
    Command command = parent.add("save", "Save an input of a skill's script, to test revisions with");
    command.required("SKILL", options->skill);
    command.required("NAME", options->name, "1 to 64 of a-z, 0-9 and -");
    addScriptInputOptions(command, options->input);
    command.number("--expect-exit", options->exitCode, "Exit status that the script must give", 0, 255);
    command.option("--expect-output", options->output, "File with what it must write: equal as JSON, or byte for byte");
    onCommand(command, context, std::move(options), save);
}

} // namespace assay::cli
