// SPDX-License-Identifier: Apache-2.0
#include "server/contract/codec.h"
#include "server/contract/json_parts.h"

namespace assay::contract {

json::object toJson(const Problem& problem)
{
    json::object out{{"code", problem.code}};
    if (!problem.path.empty())
        out["path"] = problem.path;
    if (!problem.pointer.empty())
        out["pointer"] = problem.pointer;
    if (problem.line)
        out["line"] = *problem.line;
    if (problem.column)
        out["column"] = *problem.column;
    if (!problem.client.empty())
        out["client"] = problem.client;
    out["message"] = problem.message;
    return out;
}

json::array problemArray(const std::vector<Problem>& problems)
{
    json::array out;
    for (const Problem& problem : problems)
        out.push_back(toJson(problem));
    return out;
}

json::array textArray(const std::vector<std::string>& texts)
{
    json::array out;
    for (const std::string& text : texts)
        out.emplace_back(text);
    return out;
}

json::object textObject(const std::map<std::string, std::string>& texts)
{
    json::object out;
    for (const auto& [name, text] : texts)
        out[name] = text;
    return out;
}

json::object problemDocument(const Error& error, std::string_view instance)
{
    const ErrorTraits& row = traits(error.code);
    json::object out{{"type", "about:blank"}, {"title", row.title},      {"status", row.httpStatus},
                     {"code", row.code},      {"detail", error.message}, {"instance", instance}};
    if (!error.reason.empty())
        out["reason"] = error.reason;
    out["errors"] = problemArray(error.problems);
    return out;
}

} // namespace assay::contract
