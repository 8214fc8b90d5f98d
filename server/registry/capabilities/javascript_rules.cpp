// SPDX-License-Identifier: Apache-2.0
#include "server/registry/capabilities/code_rules.h"
#include "server/registry/capabilities/code_tokens.h"
#include "server/registry/capabilities/known_names.h"
#include "server/registry/capabilities/string_rules.h"

#include <algorithm>
#include <array>

namespace assay::registry::capabilities {

namespace {

bool isCommandCall(std::string_view name)
{
    constexpr std::array<std::string_view, 8> names{"exec",     "execSync",     "spawn", "spawnSync",
                                                    "execFile", "execFileSync", "execa", "$"};
    return std::ranges::contains(names, name);
}

/// "node:fs/promises" is fs, "@scope/name/part" is @scope/name, "name/part" is name.
std::string_view packageOf(std::string_view module)
{
    std::size_t slash = module.find('/');
    if (module.starts_with('@') && slash != std::string_view::npos)
        slash = module.find('/', slash + 1);
    return module.substr(0, slash);
}

constexpr std::size_t kMaxWords = 400; ///< tokens of a command that is written as a list

class JavaScriptScan
{
public:
    JavaScriptScan(const Source& source, Findings& findings)
        : m_source(source),
          m_findings(findings),
          m_tokens(codeTokens(source.text, Language::JavaScript, source.firstLine))
    {}

    void run()
    {
        for (m_at = 0; m_at < m_tokens.size(); ++m_at) {
            const CodeToken& token = m_tokens[m_at];
            if (token.isText())
                scanText(token.text, m_source.path, token.line, m_findings);
            else if (token.isName() && !isMember())
                name(token.text);
        }
    }

private:
    const CodeToken* ahead(std::size_t by) const
    {
        return m_at + by < m_tokens.size() ? &m_tokens[m_at + by] : nullptr;
    }
    bool isMark(std::size_t by, char mark) const { return ahead(by) != nullptr && ahead(by)->isMark(mark); }
    bool isText(std::size_t by) const { return ahead(by) != nullptr && ahead(by)->isText(); }
    bool isName(std::size_t by, std::string_view name) const
    {
        return ahead(by) != nullptr && ahead(by)->isName() && ahead(by)->text == name;
    }
    /// After one dot; three of them spread.
    bool isMember() const { return isMarkBefore('.') && !(m_at > 1 && m_tokens[m_at - 2].isMark('.')); }
    bool isMarkBefore(char mark) const { return m_at > 0 && m_tokens[m_at - 1].isMark(mark); }

    void add(Kind kind, std::string_view rule, std::string_view value)
    {
        m_findings.add(kind, rule, value, m_source.path, m_tokens[m_at].line);
    }

    void name(std::string_view word)
    {
        if ((word == "require" || word == "import") && isMark(1, '(') && isText(2))
            module(ahead(2)->text);
        else if ((word == "from" || word == "import") && isText(1))
            module(ahead(1)->text);
        else if ((word == "eval" || word == "importScripts") && isMark(1, '('))
            add(Kind::Process, "code.dynamic", word);
        else if (word == "new" && isName(1, "Function"))
            add(Kind::Process, "code.dynamic", "new Function");
        else if (word == "process" && isMark(1, '.') && isName(2, "env"))
            environment(3);
        else if ((word == "Deno" || word == "Bun") && isMark(1, '.') && ahead(2) != nullptr && ahead(2)->isName())
            runtime(word, ahead(2)->text);
        else if ((word == "fetch" && isMark(1, '(')) || word == "XMLHttpRequest" || word == "WebSocket" ||
                 word == "EventSource")
            add(Kind::Network, "net.client", "javascript:" + std::string(word));
        command(word);
    }

    /// execSync("...") and child.exec("..."), once the file has asked for child processes.
    void command(std::string_view word)
    {
        if (!m_startsProcesses || m_source.depth + 1 >= kMaxDepth)
            return;
        std::size_t by = 1;
        std::string_view last = word;
        while (isMark(by, '.') && ahead(by + 1) != nullptr && ahead(by + 1)->isName()) {
            last = ahead(by + 1)->text;
            by += 2;
        }
        if (!isCommandCall(last) || !isMark(by, '(') || !isText(by + 1))
            return;
        std::string line(ahead(by + 1)->text);
        for (std::size_t i = by + 2; i < kMaxWords && ahead(i) != nullptr && !ahead(i)->isMark(')'); ++i)
            if (isText(i))
                line.append(1, ' ').append(ahead(i)->text);
        scanShell({m_source.path, line, m_tokens[m_at].line, m_source.depth + 1}, {}, m_findings);
    }

    void module(std::string_view text)
    {
        if (text.empty() || text.starts_with('.') || text.starts_with('/') || text.contains("://") ||
            text.contains("${"))
            return; // the package's own, or an address, which the text rules tell
        const bool saysNode = text.starts_with("node:");
        const std::string_view name = packageOf(saysNode ? text.substr(5) : text);
        if (name == "child_process") {
            m_startsProcesses = true;
            add(Kind::Process, "proc.javascript", name);
        }
        if (name == "execa" || name == "shelljs" || name == "zx") {
            m_startsProcesses = true;
            add(Kind::Process, "proc.javascript", name);
        }
        if (name == "vm")
            add(Kind::Process, "code.dynamic", "vm");
        if (isJavaScriptNetwork(name))
            add(Kind::Network, "net.client", "javascript:" + std::string(name));
        if (!saysNode && !isNodeStandard(name))
            add(Kind::Package, "pkg.import", "npm:" + std::string(name));
    }

    /// What follows `process.env`: ".NAME", "[\"NAME\"]", or nothing, unless names are taken out of it: {A, B} =
    /// process.env.
    void environment(std::size_t by)
    {
        const std::uint32_t line = m_tokens[m_at].line;
        if (isMark(by, '?') && isMark(by + 1, '.'))
            ++by;
        if (isMark(by, '.') && ahead(by + 1) != nullptr && ahead(by + 1)->isName())
            tellVariable(ahead(by + 1)->text, m_source.path, line, m_findings);
        else if (isMark(by, '[') && isText(by + 1))
            tellVariable(ahead(by + 1)->text, m_source.path, line, m_findings);
        else if (isMarkBefore('=') && m_at > 1 && m_tokens[m_at - 2].isMark('}'))
            takenApart();
        else
            tellAllVariables(m_source.path, line, m_findings);
    }

    void takenApart()
    {
        const std::size_t first = m_at - std::min(m_at, kMaxWords);
        for (std::size_t i = m_at - 2; i-- > first + 1 && !m_tokens[i].isMark('{');)
            if (m_tokens[i].isName() && isListStart(m_tokens[i - 1]))
                tellVariable(m_tokens[i].text, m_source.path, m_tokens[i].line, m_findings);
    }

    static bool isListStart(const CodeToken& token)
    {
        return token.isMark(',') || token.isMark('{') || token.kind == CodeToken::Kind::LineEnd;
    }

    void runtime(std::string_view owner, std::string_view member)
    {
        if (member == "Command" || member == "run" || member == "spawn" || member == "spawnSync")
            add(Kind::Process, "proc.javascript", std::string(owner) + "." + std::string(member));
        if (member == "env" && isMark(3, '.') && isName(4, "get") && isMark(5, '(') && isText(6))
            tellVariable(ahead(6)->text, m_source.path, m_tokens[m_at].line, m_findings);
        else if (member == "env")
            environment(3);
    }

    const Source& m_source;
    Findings& m_findings;
    std::vector<CodeToken> m_tokens;
    std::size_t m_at = 0;
    bool m_startsProcesses = false;
};

} // namespace

void scanJavaScript(const Source& source, Findings& findings) { JavaScriptScan(source, findings).run(); }

} // namespace assay::registry::capabilities
