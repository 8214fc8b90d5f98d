// SPDX-License-Identifier: Apache-2.0
#include "server/registry/stored_form.h"

#include "server/core/json.h"

namespace assay::registry {

namespace {

constexpr std::string_view kEmptyArray = "[]";
constexpr std::string_view kEmptyObject = "{}";

Result<json::value> parseStored(std::string_view stored)
{
    auto value = parseJson(stored);
    if (!value)
        return fail(ErrorCode::Internal, "the stored description of this revision is damaged", value.error().message);
    return value;
}

std::string textOf(const json::object& object, std::string_view member)
{
    const json::value* value = object.if_contains(member);
    return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

std::optional<std::uint32_t> numberOf(const json::object& object, std::string_view member)
{
    const json::value* value = object.if_contains(member);
    if (value == nullptr || !value->is_int64() || value->get_int64() < 1 || value->get_int64() > UINT32_MAX)
        return std::nullopt;
    return static_cast<std::uint32_t>(value->get_int64());
}

json::object problemForm(const Problem& problem)
{
    json::object out{{"code", problem.code}, {"message", problem.message}};
    if (!problem.path.empty())
        out["path"] = problem.path;
    if (problem.line)
        out["line"] = *problem.line;
    if (problem.column)
        out["column"] = *problem.column;
    if (!problem.client.empty())
        out["client"] = problem.client;
    return out;
}

Problem readProblem(const json::object& form)
{
    Problem out;
    out.code = textOf(form, "code");
    out.message = textOf(form, "message");
    out.path = textOf(form, "path");
    out.line = numberOf(form, "line");
    out.column = numberOf(form, "column");
    out.client = textOf(form, "client");
    return out;
}

// One file is an array: path, sha256 in hex, size, executable as 0 or 1, kind, media type.
std::optional<contract::RevisionFile> readFile(const json::value& form)
{
    constexpr std::size_t kMembers = 6;
    const json::array* row = form.if_array();
    if (row == nullptr || row->size() != kMembers || !(*row)[0].is_string() || !(*row)[1].is_string() ||
        !(*row)[2].is_int64() || !(*row)[3].is_int64() || !(*row)[4].is_string() || !(*row)[5].is_string() ||
        (*row)[2].get_int64() < 0)
        return std::nullopt;
    contract::RevisionFile out;
    out.path = (*row)[0].get_string();
    out.sha256 = "sha256:" + std::string((*row)[1].get_string());
    out.sizeBytes = static_cast<std::uint64_t>((*row)[2].get_int64());
    out.executable = (*row)[3].get_int64() != 0;
    out.kind = (*row)[4].get_string();
    out.mediaType = (*row)[5].get_string();
    return out;
}

// One item is an array: kind, value, rule, path, line, places.
std::optional<contract::Capability> readCapability(const json::value& form)
{
    constexpr std::size_t kMembers = 6;
    const json::array* row = form.if_array();
    if (row == nullptr || row->size() != kMembers || !(*row)[0].is_string() || !(*row)[1].is_string() ||
        !(*row)[2].is_string() || !(*row)[3].is_string() || !(*row)[4].is_int64() || !(*row)[5].is_int64())
        return std::nullopt;
    contract::Capability out;
    out.kind = (*row)[0].get_string();
    out.value = (*row)[1].get_string();
    out.rule = (*row)[2].get_string();
    out.path = (*row)[3].get_string();
    out.line = static_cast<std::uint32_t>((*row)[4].get_int64());
    out.places = static_cast<std::uint32_t>((*row)[5].get_int64());
    return out;
}

} // namespace

std::string writeFiles(const std::vector<PackageFile>& files)
{
    json::array out;
    out.reserve(files.size());
    for (const PackageFile& file : files)
        out.push_back(json::array{file.path, file.sha256.hex(), file.content.size(), file.executable ? 1 : 0,
                                  file.kind == FileKind::Text ? "text" : "asset", file.mediaType});
    return json::serialize(out);
}

Result<std::vector<contract::RevisionFile>> readFiles(std::string_view stored)
{
    auto value = parseStored(stored);
    if (!value)
        return forward(value);
    const json::array* rows = value->if_array();
    if (rows == nullptr)
        return fail(ErrorCode::Internal, "the stored description of this revision is damaged", "files");
    std::vector<contract::RevisionFile> out;
    out.reserve(rows->size());
    for (const json::value& row : *rows) {
        auto file = readFile(row);
        if (!file)
            return fail(ErrorCode::Internal, "the stored description of this revision is damaged", "one of files");
        out.push_back(std::move(*file));
    }
    return out;
}

std::string writeProblems(const std::vector<Problem>& problems)
{
    if (problems.empty())
        return std::string(kEmptyArray);
    json::array out;
    for (const Problem& problem : problems)
        out.push_back(problemForm(problem));
    return json::serialize(out);
}

std::vector<Problem> readProblems(std::string_view stored)
{
    if (stored == kEmptyArray)
        return {};
    const auto value = parseStored(stored);
    if (!value || !value->is_array())
        return {{.code = "stored_row_damaged", .message = "what was stored about this revision cannot be read"}};
    std::vector<Problem> out;
    for (const json::value& row : value->get_array()) {
        if (const json::object* form = row.if_object())
            out.push_back(readProblem(*form));
    }
    return out;
}

std::string writeCapabilities(const contract::CapabilityReport& report)
{
    json::array items;
    items.reserve(report.items.size());
    for (const contract::Capability& item : report.items)
        items.push_back(json::array{item.kind, item.value, item.rule, item.path, item.line, item.places});
    return json::serialize(
        json::object{{"rules", report.rules}, {"left_out", report.leftOut}, {"items", std::move(items)}});
}

std::optional<contract::CapabilityReport> readCapabilities(std::string_view stored, std::uint32_t rules)
{
    if (stored.empty())
        return std::nullopt;
    const auto value = parseJson(stored);
    const json::object* form = value ? value->if_object() : nullptr;
    const json::value* items = form != nullptr ? form->if_contains("items") : nullptr;
    if (items == nullptr || !items->is_array() || numberOf(*form, "rules") != rules)
        return std::nullopt;
    contract::CapabilityReport out{.rules = rules, .items = {}, .leftOut = numberOf(*form, "left_out").value_or(0)};
    for (const json::value& item : items->get_array()) {
        auto read = readCapability(item);
        if (!read)
            return std::nullopt;
        out.items.push_back(std::move(*read));
    }
    return out;
}

std::string writeStrings(const std::vector<std::string>& strings)
{
    if (strings.empty())
        return std::string(kEmptyArray);
    return json::serialize(json::array(strings.begin(), strings.end()));
}

std::vector<std::string> readStrings(std::string_view stored)
{
    if (stored == kEmptyArray)
        return {};
    std::vector<std::string> out;
    const auto value = parseStored(stored);
    if (!value || !value->is_array())
        return out;
    for (const json::value& row : value->get_array()) {
        if (const json::string* text = row.if_string())
            out.emplace_back(*text);
    }
    return out;
}

std::string writeLabels(const std::map<std::string, std::string>& labels)
{
    if (labels.empty())
        return std::string(kEmptyObject);
    json::object out;
    for (const auto& [name, value] : labels)
        out[name] = value;
    return json::serialize(out);
}

std::map<std::string, std::string> readLabels(std::string_view stored)
{
    std::map<std::string, std::string> out;
    if (stored == kEmptyObject)
        return out;
    const auto value = parseStored(stored);
    if (!value || !value->is_object())
        return out;
    for (const auto& [name, label] : value->get_object()) {
        if (const json::string* text = label.if_string())
            out.emplace(name, *text);
    }
    return out;
}

} // namespace assay::registry
