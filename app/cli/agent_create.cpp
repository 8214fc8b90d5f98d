// SPDX-License-Identifier: Apache-2.0
#include "app/cli/command.h"

namespace assay::cli {

namespace {

constexpr std::uint64_t kDefinitionBytes = 1 << 20;

struct Options
{
    std::string name;
    std::vector<std::string> skills;
    std::vector<std::string> subagents;
    std::string environment;
    std::string execution;
    std::string tier;
    std::vector<std::string> hosts;
    std::uint64_t egressBytes = 0;
    std::string file;
    bool replace = false;
};

Result<json::array> subagentsOf(const std::vector<std::string>& texts)
{
    json::array out;
    for (const std::string& text : texts) {
        const std::size_t equals = text.find('=');
        if (equals == std::string::npos || equals == 0)
            return fail(ErrorCode::InvalidArgument, "write a subagent as NAME=SKILL,SKILL: " + text);
        json::array skills;
        std::string_view rest = std::string_view(text).substr(equals + 1);
        while (!rest.empty()) {
            const std::size_t comma = std::min(rest.find(','), rest.size());
            skills.emplace_back(rest.substr(0, comma));
            rest.remove_prefix(std::min(comma + 1, rest.size()));
        }
        out.push_back(json::object{{"name", text.substr(0, equals)}, {"skills", std::move(skills)}});
    }
    return out;
}

Result<json::object> definitionOf(const Options& options)
{
    if (!options.file.empty()) {
        auto text = readInput(options.file, kDefinitionBytes);
        if (!text)
            return forward(text);
        auto parsed = parseJson(*text);
        if (!parsed)
            return fail(ErrorCode::InvalidArgument, options.file + " is not JSON: " + parsed.error().message);
        if (!parsed->is_object())
            return fail(ErrorCode::InvalidArgument, options.file + " is not a JSON object");
        return parsed->get_object();
    }
    auto subagents = subagentsOf(options.subagents);
    if (!subagents)
        return forward(subagents);
    json::object out{{"skills", json::value_from(options.skills)}};
    if (!subagents->empty())
        out["subagents"] = std::move(*subagents);
    if (!options.environment.empty())
        out["environment"] = options.environment;
    if (!options.execution.empty())
        out["execution"] = options.execution;
    if (!options.tier.empty()) {
        json::object egress{{"tier", options.tier}, {"allowlist", json::value_from(options.hosts)}};
        if (options.egressBytes)
            egress["max_bytes"] = options.egressBytes;
        out["egress"] = std::move(egress);
    }
    return out;
}

Result<int> create(Context& context, const Options& options)
{
    auto definition = definitionOf(options);
    if (!definition)
        return forward(definition);
    auto api = context.api();
    if (!api)
        return forward(api);
    definition->erase("name"); // the path has it
    const std::string body = json::serialize(*definition);
    HttpRequest request;
    request.method = "PUT";
    request.target = pathOf({"v1", "agents", options.name});
    request.contentType = "application/json";
    request.body = body;
    if (!options.replace)
        request.headers.emplace_back("If-None-Match", "*");
    auto answer = (*api)->send(std::move(request));
    if (!answer)
        return forward(answer);
    context.print(answer->body, [](const json::value& agent) {
        return "agent " + plain(textOf(agent, "name")) + '\n' + labelled("revision", textOf(agent, "revision")) +
               labelled("digest", textOf(agent, "digest")) + labelled("skills", joined(agent, "skills")) +
               findingLines(agent, "warnings", {});
    });
    return kDone;
}

} // namespace

void addAgentCreate(Command& parent, Context& context)
{
    auto options = std::make_shared<Options>();
    Command command = parent.add("create", "Define an agent, or with --replace a new revision of it");
    command.required("NAME", options->name);
    command.list("--skill", options->skills, "A skill that it may use; repeat for more");
    command.list("--subagent", options->subagents, "NAME=SKILL,SKILL: a subagent with a part of these skills");
    command.option("--environment", options->environment);
    command.choice("--execution", options->execution, "", {"inherit", "on", "off"});
    command.choice("--egress", options->tier, "Network tier", {"none", "default_internet", "allowlist"});
    command.list("--allow", options->hosts, "HOST, *.HOST or HOST:PORT of the allowlist; repeat for more");
    command.number("--egress-bytes", options->egressBytes, "Most bytes of the network, both ways", 1, UINT64_MAX);
    command.option("--file", options->file, "The whole definition as JSON, or - for standard input");
    for (const char* other : {"--skill", "--subagent", "--environment", "--execution", "--egress", "--allow"})
        command.exclude("--file", other);
    command.flag("--replace", options->replace, "Also when the agent exists");
    onCommand(command, context, std::move(options), create);
}

} // namespace assay::cli
