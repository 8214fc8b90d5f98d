// SPDX-License-Identifier: Apache-2.0
#include "server/registry/schema_files.h"

#include "server/core/json.h"

#include <algorithm>

namespace assay::registry {

namespace {

constexpr std::string_view kInputFile = "assets/input-schema.json";
constexpr std::string_view kOutputFile = "assets/output-schema.json";

std::string_view endingOf(SchemaOf side) { return side == SchemaOf::Input ? ".input.json" : ".output.json"; }

bool isOwnSchema(std::string_view path)
{
    return path.starts_with("schemas/") && (path.ends_with(".input.json") || path.ends_with(".output.json"));
}

/// Does a schema refer to another document? Only what stands as a reference counts, not a property of that name.
bool refersElsewhere(const json::value& schema)
{
    if (const json::array* items = schema.if_array())
        return std::ranges::any_of(*items, refersElsewhere);
    const json::object* members = schema.if_object();
    if (members == nullptr)
        return false;
    for (const char* name : {"$ref", "$dynamicRef"}) {
        const json::value* reference = members->if_contains(name);
        if (reference != nullptr && reference->is_string() && std::string_view(reference->get_string()).contains("://"))
            return true;
    }
    return std::ranges::any_of(*members, [](const auto& member) { return refersElsewhere(member.value()); });
}

Problem lintAt(std::string_view path, std::string code, std::string message, TextPosition at)
{
    return {.code = std::move(code),
            .message = std::move(message),
            .path = std::string(path),
            .line = at.line,
            .column = at.column,
            .client = "assay"};
}

void lintSchema(const PackageFile& file, ProblemList& lints)
{
    if (file.content.size() > kMaxSchemaBytes)
        return lints.add(lintAt(file.path, "schema_too_large",
                                "this schema has " + std::to_string(file.content.size()) + " bytes; runs use at most " +
                                    std::to_string(kMaxSchemaBytes),
                                {}));
    std::size_t offset = 0;
    const auto schema = parseJson(file.content, offset);
    if (!schema)
        return lints.add(lintAt(file.path, "invalid_schema", "runs will be refused: " + schema.error().message,
                                positionAt(file.content, offset)));
    if (!schema->is_object() && !schema->is_bool())
        return lints.add(lintAt(file.path, "invalid_schema",
                                "runs will be refused: a JSON Schema is an object, or true or false", {}));
    if (refersElsewhere(*schema))
        lints.add(lintAt(file.path, "schema_remote_reference",
                         "runs will be refused: this schema refers to another document, and none is fetched; put it "
                         "below \"$defs\"",
                         {}));
}

void lintMissing(std::span<const PackageFile> files, const std::string& declared, std::size_t offset,
                 ProblemList& lints)
{
    const auto skillMd = std::ranges::find(files, kSkillMd, &PackageFile::path);
    if (declared.empty() || skillMd == files.end() || std::ranges::contains(files, declared, &PackageFile::path))
        return;
    lints.add(lintAt(kSkillMd, "schema_missing",
                     "runs will be refused: the package has no file " + inQuotes(declared) +
                         ", which is named here as a schema",
                     positionAt(skillMd->content, offset)));
}

} // namespace

std::string schemaPath(std::string_view script, SchemaOf side, std::string_view declared,
                       const std::function<bool(std::string_view path)>& isThere)
{
    const std::string_view name = script.substr(script.rfind('/') + 1);
    const std::size_t dot = name.rfind('.');
    const std::string_view stem = dot == 0 ? name : name.substr(0, std::min(dot, name.size()));
    for (const std::string_view base : {name, stem}) {
        std::string own = "schemas/" + std::string(base);
        own += endingOf(side);
        if (isThere(own))
            return own;
    }
    if (!declared.empty())
        return std::string(declared);
    const std::string_view common = side == SchemaOf::Input ? kInputFile : kOutputFile;
    return isThere(common) ? std::string(common) : std::string();
}

void lintSchemas(std::span<const PackageFile> files, const Frontmatter& frontmatter, ProblemList& lints)
{
    lintMissing(files, frontmatter.inputSchema, frontmatter.inputSchemaOffset, lints);
    lintMissing(files, frontmatter.outputSchema, frontmatter.outputSchemaOffset, lints);
    for (const PackageFile& file : files) {
        const bool isSchema = file.path == kInputFile || file.path == kOutputFile || isOwnSchema(file.path) ||
                              file.path == frontmatter.inputSchema || file.path == frontmatter.outputSchema;
        if (isSchema)
            lintSchema(file, lints);
    }
}

} // namespace assay::registry
