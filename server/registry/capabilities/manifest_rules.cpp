// SPDX-License-Identifier: Apache-2.0
#include "server/registry/capabilities/manifest_rules.h"

#include "server/core/json.h"
#include "server/registry/capabilities/string_rules.h"

#include <algorithm>
#include <array>

namespace assay::registry::capabilities {

namespace {

std::string_view baseName(std::string_view path) { return path.substr(path.rfind('/') + 1); }

std::string_view trimmed(std::string_view text)
{
    const auto start = text.find_first_not_of(" \t\r");
    if (start == std::string_view::npos)
        return {};
    return text.substr(start, text.find_last_not_of(" \t\r") - start + 1);
}

/// "name[extra] >= 1.0 ; marker" is name; empty when it is none.
std::string_view requirementName(std::string_view text)
{
    const std::string_view name = text.substr(0, std::min(text.find_first_of(" =<>!~[;@#(\t"), text.size()));
    const bool isName = !name.empty() && std::ranges::all_of(name, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
               c == '.';
    });
    return isName ? name : std::string_view();
}

/// Gives each line without its break.
template <typename Each> void eachLine(const Source& source, Each each)
{
    std::uint32_t line = source.firstLine;
    for (std::size_t at = 0; at < source.text.size(); ++line) {
        const std::size_t end = std::min(source.text.find('\n', at), source.text.size());
        each(source.text.substr(at, end - at), line);
        at = end + 1;
    }
}

void addPython(std::string_view requirement, const Source& source, std::uint32_t line, Findings& findings)
{
    const std::string_view name = requirementName(requirement);
    if (!name.empty())
        findings.add(Kind::Package, "pkg.manifest", "python:" + std::string(name), source.path, line);
}

void scanRequirements(const Source& source, Findings& findings)
{
    eachLine(source, [&](std::string_view row, std::uint32_t line) {
        const std::string_view text = trimmed(row);
        if (text.empty() || text.starts_with('#'))
            return;
        scanText(text, source.path, line, findings); // an index or a direct address is a host
        if (!text.starts_with('-') && !text.contains("://"))
            addPython(text, source, line, findings);
    });
}

/// A list of texts that begins behind `key =` and may go on over lines.
class DependencyLists
{
public:
    DependencyLists(const Source& source, Findings& findings) : m_source(source), m_findings(findings) {}

    void line(std::string_view row, std::uint32_t number)
    {
        const std::string_view text = trimmed(row);
        if (m_inside)
            return items(text, number);
        if (text.starts_with('[')) {
            m_table = text;
            return;
        }
        if (isPoetryTable() && text.contains('=') && !text.starts_with('#'))
            return poetry(text, number);
        if (startsList(text)) {
            m_inside = true;
            items(text.substr(text.find('[') + 1), number);
        }
    }

private:
    bool isPoetryTable() const { return m_table.starts_with("[tool.poetry") && m_table.contains("dependencies"); }

    bool startsList(std::string_view text) const
    {
        const bool isExtra = m_table == "[project.optional-dependencies]" || m_table == "[dependency-groups]";
        const std::string_view key = trimmed(text.substr(0, std::min(text.find('='), text.size())));
        return text.contains('[') && text.contains('=') && (key == "dependencies" || key == "requires" || isExtra);
    }

    void poetry(std::string_view text, std::uint32_t number)
    {
        const std::string_view name = requirementName(text);
        if (name != "python")
            addPython(name, m_source, number, m_findings);
    }

    void items(std::string_view text, std::uint32_t number)
    {
        while (!text.empty()) {
            const std::size_t next = text.find_first_of("\"']#");
            if (next == std::string_view::npos || text[next] == '#')
                return;
            if (text[next] == ']') {
                m_inside = false;
                return;
            }
            const std::size_t end = std::min(text.find(text[next], next + 1), text.size());
            const std::string_view item = text.substr(next + 1, end - next - 1);
            scanText(item, m_source.path, number, m_findings);
            addPython(item, m_source, number, m_findings);
            text.remove_prefix(std::min(end + 1, text.size()));
        }
    }

    const Source& m_source;
    Findings& m_findings;
    std::string_view m_table;
    bool m_inside = false;
};

void scanPyproject(const Source& source, Findings& findings)
{
    DependencyLists lists(source, findings);
    eachLine(source, [&](std::string_view row, std::uint32_t line) { lists.line(row, line); });
}

void scanPackageJson(const Source& source, Findings& findings)
{
    const auto document = parseJson(source.text);
    const json::object* root = document ? document->if_object() : nullptr;
    if (root == nullptr) {
        findings.add(Kind::Unscanned, "scan.unreadable", source.path, source.path, 0);
        return;
    }
    for (const char* member : {"dependencies", "devDependencies", "peerDependencies", "optionalDependencies"}) {
        const json::value* list = root->if_contains(member);
        const json::object* names = list != nullptr ? list->if_object() : nullptr;
        if (names == nullptr)
            continue;
        for (const auto& entry : *names) {
            findings.add(Kind::Package, "pkg.manifest", "npm:" + std::string(entry.key()), source.path, 0);
            if (entry.value().is_string())
                scanText(std::string_view(entry.value().get_string()), source.path, 0, findings);
        }
    }
    const json::value* scripts = root->if_contains("scripts");
    const json::object* hooks = scripts != nullptr ? scripts->if_object() : nullptr;
    for (const char* hook : {"preinstall", "install", "postinstall", "prepare"})
        if (hooks != nullptr && hooks->contains(hook))
            findings.add(Kind::Process, "code.install-hook", std::string("npm ") + hook, source.path, 0);
}

} // namespace

bool isPackageManifest(std::string_view path)
{
    const std::string_view name = baseName(path);
    return name == "package.json" || name == "pyproject.toml" ||
           (name.starts_with("requirements") && name.ends_with(".txt"));
}

void scanManifest(const Source& source, Findings& findings)
{
    const std::string_view name = baseName(source.path);
    if (name == "package.json")
        scanPackageJson(source, findings);
    else if (name == "pyproject.toml")
        scanPyproject(source, findings);
    else
        scanRequirements(source, findings);
}

void scanInlineMetadata(const Source& source, Findings& findings)
{
    if (!source.text.contains("# /// script"))
        return;
    DependencyLists lists(source, findings);
    bool inside = false;
    eachLine(source, [&](std::string_view row, std::uint32_t line) {
        const std::string_view text = trimmed(row);
        if (text == "# /// script")
            inside = true;
        else if (text == "# ///")
            inside = false;
        else if (inside && text.starts_with('#'))
            lists.line(text.substr(1), line);
    });
}

} // namespace assay::registry::capabilities
