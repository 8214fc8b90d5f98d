// SPDX-License-Identifier: Apache-2.0
#include "server/registry/frontmatter.h"

#include "server/core/text.h"
#include "server/registry/allowed_tools.h"
#include "server/registry/name_slug.h"
#include "server/registry/yaml_reader.h"

#include <algorithm>
#include <array>

namespace assay::registry {

namespace {

constexpr std::size_t kMaxDescription = 1024; // code points, of the specification of agent skills
constexpr std::array<std::string_view, 6> kKnownKeys{"name",          "description", "license",
                                                     "compatibility", "metadata",    "allowed-tools"};

bool isBlank(std::string_view text) { return text.find_first_not_of(" \t\r\n") == std::string_view::npos; }

std::string trimmed(std::string_view text)
{
    constexpr std::string_view blanks = " \t\r\n";
    const std::size_t first = text.find_first_not_of(blanks);
    return first == std::string_view::npos ? std::string()
                                           : std::string(text.substr(first, text.find_last_not_of(blanks) - first + 1));
}

/// Reads one frontmatter; one object a file.
class Reader
{
public:
    Reader(std::string_view skillMd, const SkillMdParts& parts, ProblemList& errors, ProblemList& lints)
        : m_text(skillMd), m_parts(parts), m_errors(errors), m_lints(lints)
    {}
    std::optional<Frontmatter> read();

private:
    Problem problem(std::string code, std::size_t offset, std::string message) const;
    void lint(std::string code, std::size_t offset, std::string message, std::string client);
    const YamlNode* required(std::string_view key, std::string code);
    void readName(Frontmatter& out);
    void readDescription(Frontmatter& out);
    void readMetadata(Frontmatter& out);
    void readWish(std::string_view key, const YamlNode& value, Frontmatter& out);
    void readTools(Frontmatter& out);
    void lintKeys();
    void lintStyle();

    std::string_view m_text;
    const SkillMdParts& m_parts;
    ProblemList& m_errors;
    ProblemList& m_lints;
    YamlDocument m_document;
    bool m_isValid = true;
};

Problem Reader::problem(std::string code, std::size_t offset, std::string message) const
{
    const TextPosition at = positionAt(m_text, m_parts.frontmatterOffset + offset);
    return {.code = std::move(code),
            .message = std::move(message),
            .path = std::string(kSkillMd),
            .line = at.line,
            .column = at.column};
}

void Reader::lint(std::string code, std::size_t offset, std::string message, std::string client)
{
    Problem found = problem(std::move(code), offset, std::move(message));
    found.client = std::move(client);
    m_lints.add(std::move(found));
}

/// The scalar of `key`; a problem and null when it is missing, empty or something else.
const YamlNode* Reader::required(std::string_view key, std::string code)
{
    const YamlNode* node = m_document.root.find(key);
    std::string fault;
    if (!node)
        fault = "the frontmatter has no";
    else if (node->kind != YamlNode::Kind::Scalar)
        fault = "the frontmatter needs a text, not a list or mapping, as";
    else if (node->isNull() || isBlank(node->value))
        fault = "the frontmatter has an empty";
    else
        return node;
    m_isValid = false;
    m_errors.add(problem(std::move(code), node ? node->offset : 0,
                         fault + " \"" + std::string(key) + "\"; add a line \"" + std::string(key) + ": ...\""));
    return nullptr;
}

void Reader::readName(Frontmatter& out)
{
    const YamlNode* node = required("name", "missing_name");
    if (!node)
        return;
    out.name = node->value;
    out.nameOffset = m_parts.frontmatterOffset + node->offset;
    out.slug = slugOf(out.name);
    if (!isRegistryName(out.slug)) {
        m_isValid = false;
        m_errors.add(problem("invalid_name", node->offset,
                             "the name " + inQuotes(out.name) + " gives no registry name: use 1 to " +
                                 std::to_string(kMaxNameBytes) + " of a-z, 0-9 and single hyphens"));
    } else if (out.slug != out.name) {
        lint("name_not_portable", node->offset,
             "clients that follow the specification refuse the name " + inQuotes(out.name) + "; write " + out.slug,
             "skills-ref");
    }
}

void Reader::readDescription(Frontmatter& out)
{
    const YamlNode* node = required("description", "missing_description");
    if (!node)
        return;
    out.description = node->value;
    if (const std::size_t length = countCodePoints(trimmed(out.description)); length > kMaxDescription)
        lint("description_too_long", node->offset,
             "the description has " + std::to_string(length) + " characters; clients refuse or cut it above " +
                 std::to_string(kMaxDescription),
             "claude-ai");
    if (out.description.find_first_of("<>") != std::string::npos)
        lint("description_markup", node->offset,
             "the description has \"<\" or \">\", which is refused on upload; leave them out", "claude-ai");
}

void Reader::readMetadata(Frontmatter& out)
{
    const YamlNode* metadata = m_document.root.find("metadata");
    if (!metadata || metadata->isNull())
        return;
    if (metadata->kind != YamlNode::Kind::Mapping) {
        lint("metadata_not_strings", metadata->offset, "\"metadata\" should be a mapping of strings", "skills-ref");
        return;
    }
    for (std::size_t i = 0; i + 1 < metadata->items.size(); i += 2) {
        const YamlNode& key = metadata->items[i];
        const YamlNode& value = metadata->items[i + 1];
        if (value.kind != YamlNode::Kind::Scalar)
            lint("metadata_not_strings", value.offset,
                 "the value of " + inQuotes(key.value) + " in \"metadata\" should be a string", "skills-ref");
        else if (!value.isNull())
            readWish(key.value, value, out);
    }
}

/// What this registry reads of the metadata.
void Reader::readWish(std::string_view key, const YamlNode& value, Frontmatter& out)
{
    if (key == "assay.network") {
        out.network = value.value;
    } else if (key == "assay.input-schema") {
        out.inputSchema = toNfc(value.value);
        out.inputSchemaOffset = m_parts.frontmatterOffset + value.offset;
    } else if (key == "assay.output-schema") {
        out.outputSchema = toNfc(value.value);
        out.outputSchemaOffset = m_parts.frontmatterOffset + value.offset;
    } else if (key == "assay.requires-execution") {
        out.requiresExecution = value.value == "true";
        if (!out.requiresExecution && value.value != "false")
            lint("metadata_value", value.offset, "\"assay.requires-execution\" is \"true\" or \"false\"", "assay");
    }
}

void Reader::readTools(Frontmatter& out)
{
    const YamlNode* node = m_document.root.find("allowed-tools");
    if (!node)
        return;
    AllowedTools tools = readAllowedTools(*node);
    if (!tools.isPortable)
        lint("allowed_tools_form", node->offset,
             "\"allowed-tools\" should be one string with spaces between the names: " + inQuotes(tools.canonical),
             "skills-ref");
    out.allowedTools = std::move(tools.canonical);
}

void Reader::lintKeys()
{
    for (std::size_t i = 0; i + 1 < m_document.root.items.size(); i += 2) {
        const YamlNode& key = m_document.root.items[i];
        if (!std::ranges::contains(kKnownKeys, key.value))
            lint("unknown_key", key.offset,
                 "the key " + inQuotes(key.value) +
                     " is not of the specification and is refused on upload; move it under \"metadata\"",
                 "claude-ai");
    }
}

void Reader::lintStyle()
{
    const YamlStyle& style = m_document.style;
    if (style.flow != YamlStyle::kNone)
        lint("yaml_flow_style", style.flow, "lists in [...] and mappings in {...} are not read; write one entry a line",
             "skills-ref");
    if (style.anchor != YamlStyle::kNone)
        lint("yaml_anchor", style.anchor, "anchors and aliases are not read; write the value", "skills-ref");
    if (style.tag != YamlStyle::kNone)
        lint("yaml_tag", style.tag, "tags are not read; write the value without one", "skills-ref");
}

std::optional<Frontmatter> Reader::read()
{
    auto document = readYaml(m_parts.frontmatter);
    if (!document) {
        m_errors.add(
            problem("invalid_frontmatter", document.error().offset, "in the frontmatter, " + document.error().message));
        return std::nullopt;
    }
    m_document = std::move(*document);
    const bool isMapping = m_document.root.kind == YamlNode::Kind::Mapping;
    if (!m_document.isEmpty && !isMapping) {
        m_errors.add(problem("invalid_frontmatter", m_document.root.offset,
                             "the frontmatter must be a mapping of keys and values, such as \"name: my-skill\""));
        return std::nullopt;
    }
    Frontmatter out;
    readName(out);
    readDescription(out);
    readMetadata(out);
    readTools(out);
    lintKeys();
    lintStyle();
    return m_isValid ? std::optional(std::move(out)) : std::nullopt;
}

} // namespace

std::optional<Frontmatter> readFrontmatter(std::string_view skillMd, const SkillMdParts& parts, ProblemList& errors,
                                           ProblemList& lints)
{
    return Reader(skillMd, parts, errors, lints).read();
}

} // namespace assay::registry
