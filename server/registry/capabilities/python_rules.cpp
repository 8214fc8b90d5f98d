// SPDX-License-Identifier: Apache-2.0
#include "server/registry/capabilities/code_rules.h"
#include "server/registry/capabilities/code_tokens.h"
#include "server/registry/capabilities/known_names.h"
#include "server/registry/capabilities/string_rules.h"

#include <algorithm>
#include <array>
#include <unordered_map>

namespace assay::registry::capabilities {

namespace {

bool startsProcess(std::string_view dotted)
{
    constexpr std::array<std::string_view, 8> names{"os.system",    "os.popen",       "os.fork",         "os.forkpty",
                                                    "os.startfile", "os.posix_spawn", "os.posix_spawnp", "pty.spawn"};
    return std::ranges::contains(names, dotted) || dotted.starts_with("os.exec") || dotted.starts_with("os.spawn");
}

bool runsText(std::string_view dotted)
{
    constexpr std::array<std::string_view, 9> names{
        "eval",         "exec",          "__import__",    "importlib.import_module", "pickle.load",
        "pickle.loads", "marshal.loads", "code.interact", "runpy.run_path"};
    return std::ranges::contains(names, dotted);
}

bool takesCommand(std::string_view dotted)
{
    constexpr std::array<std::string_view, 2> names{"os.system", "os.popen"};
    return std::ranges::contains(names, dotted) || dotted.starts_with("subprocess.") ||
           dotted == "asyncio.create_subprocess_shell";
}

constexpr std::size_t kMaxWords = 400; ///< tokens of a command that is written as a list

class PythonScan
{
public:
    PythonScan(const Source& source, const OwnModules& own, Findings& findings)
        : m_source(source),
          m_own(own),
          m_findings(findings),
          m_tokens(codeTokens(source.text, Language::Python, source.firstLine))
    {}

    void run()
    {
        for (std::size_t i = 0; i < m_tokens.size(); ++i) {
            const CodeToken& token = m_tokens[i];
            if (token.isText())
                scanText(token.text, m_source.path, token.line, m_findings);
            else if (token.isName() && !isMark(i, -1, '.'))
                i = name(i);
        }
    }

private:
    const CodeToken* at(std::size_t index) const { return index < m_tokens.size() ? &m_tokens[index] : nullptr; }
    bool isMark(std::size_t index, int step, char mark) const
    {
        if (step < 0 && index == 0)
            return false;
        const CodeToken* token = at(step < 0 ? index - 1 : index);
        return token != nullptr && token->isMark(mark);
    }
    bool isMark(std::size_t index, char mark) const { return isMark(index, 0, mark); }
    bool startsStatement(std::size_t index) const
    {
        return index == 0 || m_tokens[index - 1].kind == CodeToken::Kind::LineEnd || m_tokens[index - 1].isMark(';') ||
               m_tokens[index - 1].isMark(':');
    }

    void add(Kind kind, std::string_view rule, std::string_view value, std::size_t index)
    {
        m_findings.add(kind, rule, value, m_source.path, m_tokens[index].line);
    }

    /// Judges the name at `index` with what hangs on it by dots; gives the last token that was used up.
    std::size_t name(std::size_t index)
    {
        const std::string_view word = m_tokens[index].text;
        if (startsStatement(index) && word == "import")
            return imports(index);
        if (startsStatement(index) && word == "from")
            return importsFrom(index);
        const std::size_t last = chainEnd(index);
        if (mayMatter(word))
            judge(dotted(index, last), index, last);
        return last;
    }

    bool mayMatter(std::string_view word) const
    {
        constexpr std::array<std::string_view, 13> first{"os",     "eval",    "exec",  "__import__", "importlib",
                                                         "pickle", "marshal", "pty",   "subprocess", "code",
                                                         "runpy",  "asyncio", "urllib"};
        return std::ranges::contains(first, word) || m_aliases.contains(word);
    }

    std::size_t chainEnd(std::size_t index) const
    {
        std::size_t last = index;
        while (isMark(last + 1, '.') && at(last + 2) != nullptr && at(last + 2)->isName())
            last += 2;
        return last;
    }

    std::string dotted(std::size_t first, std::size_t last) const
    {
        const auto alias = m_aliases.find(m_tokens[first].text);
        std::string out(alias == m_aliases.end() ? m_tokens[first].text : std::string_view(alias->second));
        for (std::size_t i = first + 2; i <= last && out.size() < 200; i += 2)
            out.append(1, '.').append(m_tokens[i].text);
        return out;
    }

    void judge(const std::string& name, std::size_t index, std::size_t last)
    {
        const bool isCall = isMark(last + 1, '(');
        if (startsProcess(name))
            add(Kind::Process, "proc.python", name, index);
        if (isCall && runsText(name))
            add(Kind::Process, "code.dynamic", name, index);
        if (name == "__import__" || name == "importlib.import_module")
            namedImport(last);
        if (name.starts_with("os.environ"))
            environment(name, index, last);
        else if (name == "os.getenv" || name == "os.environb" || name == "os.getenvb")
            variable(last + 1, '(', index);
        if (isCall && takesCommand(name))
            command(last + 2);
    }

    void namedImport(std::size_t last)
    {
        if (isMark(last + 1, '(') && at(last + 2) != nullptr && at(last + 2)->isText())
            module(at(last + 2)->text, last + 2);
    }

    void environment(std::string_view name, std::size_t index, std::size_t last)
    {
        if (name == "os.environ" && isMark(last + 1, '['))
            variable(last + 1, '[', index);
        else if (name == "os.environ.get" || name == "os.environ.pop" || name == "os.environ.setdefault")
            variable(last + 1, '(', index);
        else if (isMembership(index))
            tellVariable(m_tokens[index - 2].text, m_source.path, m_tokens[index].line, m_findings);
        else if (name == "os.environ" || name == "os.environ.copy" || name == "os.environ.items")
            tellAllVariables(m_source.path, m_tokens[index].line, m_findings);
    }

    /// "NAME" in os.environ
    bool isMembership(std::size_t index) const
    {
        if (index < 2 || !m_tokens[index - 1].isName())
            return false;
        return m_tokens[index - 1].text == "in" && m_tokens[index - 2].isText();
    }

    void variable(std::size_t open, char mark, std::size_t index)
    {
        if (!isMark(open, mark))
            return;
        const CodeToken* argument = at(open + 1);
        if (argument != nullptr && argument->isText())
            tellVariable(argument->text, m_source.path, argument->line, m_findings);
        else
            m_findings.add(Kind::Environment, "env.read", "(computed)", m_source.path, m_tokens[index].line);
    }

    /// The command line in a call's first argument: one text, or a list of texts.
    void command(std::size_t index)
    {
        if (m_source.depth + 1 >= kMaxDepth || at(index) == nullptr)
            return;
        std::string line;
        const std::uint32_t number = at(index)->line;
        if (at(index)->isText()) {
            line = at(index)->text;
        } else if (at(index)->isMark('[')) {
            for (std::size_t i = index + 1; i < index + kMaxWords && at(i) != nullptr && !at(i)->isMark(']'); ++i)
                if (at(i)->isText())
                    line.append(line.empty() ? "" : " ").append(at(i)->text);
        }
        if (!line.empty())
            scanShell({m_source.path, line, number, m_source.depth + 1}, m_own, m_findings);
    }

    void module(std::string_view path, std::size_t index)
    {
        const std::string_view top = path.substr(0, path.find('.'));
        if (top.empty())
            return;
        if (top == "subprocess" || top == "pty" || top == "pexpect")
            add(Kind::Process, "proc.python", top, index);
        if (isPythonNetwork(top) || path.starts_with("urllib.request") || path.starts_with("http.client"))
            add(Kind::Network, "net.client",
                "python:" + std::string(path.starts_with("urllib.") || path.starts_with("http.") ? path : top), index);
        if (!isPythonStandard(top) && !m_own.contains(top))
            add(Kind::Package, "pkg.import", "python:" + std::string(top), index);
    }

    /// "import a.b as c, d": each module; the names they get.
    std::size_t imports(std::size_t index)
    {
        std::size_t i = index + 1;
        while (at(i) != nullptr && at(i)->isName()) {
            const std::size_t last = chainEnd(i);
            const std::string path = dotted(i, last);
            module(path, i);
            i = last + 1;
            if (at(i) != nullptr && at(i)->isName() && at(i)->text == "as" && at(i + 1) != nullptr &&
                at(i + 1)->isName()) {
                alias(at(i + 1)->text, path);
                i += 2;
            }
            if (!isMark(i, ','))
                break;
            ++i;
        }
        return i - 1;
    }

    /// "from a.b import c as d, e": the module; what the names stand for. Relative ones are the package's own.
    std::size_t importsFrom(std::size_t index)
    {
        if (at(index + 1) == nullptr || !at(index + 1)->isName())
            return index;
        const std::size_t last = chainEnd(index + 1);
        if (at(last + 1) == nullptr || !at(last + 1)->isName() || at(last + 1)->text != "import")
            return last;
        const std::string path = dotted(index + 1, last);
        module(path, index + 1);
        std::size_t i = last + 2;
        const bool goesOn = isMark(i, '(');
        for (; at(i) != nullptr && (at(i)->isName() || at(i)->isMark(',') || at(i)->isMark('(') ||
                                    (goesOn && at(i)->kind == CodeToken::Kind::LineEnd));
             ++i) {
            if (!at(i)->isName())
                continue;
            const std::string whole = path + "." + std::string(at(i)->text);
            const bool renamed = at(i + 1) != nullptr && at(i + 1)->isName() && at(i + 1)->text == "as" &&
                                 at(i + 2) != nullptr && at(i + 2)->isName();
            alias(renamed ? at(i + 2)->text : at(i)->text, whole);
            i += renamed ? 2 : 0;
        }
        return i - 1;
    }

    /// Only names that the rules know are worth keeping.
    void alias(std::string_view name, const std::string& stands)
    {
        constexpr std::size_t kMaxAliases = 1000;
        const bool known = stands == "os" || stands.starts_with("os.") || stands.starts_with("subprocess") ||
                           stands.starts_with("importlib") || stands.starts_with("pickle") ||
                           stands.starts_with("marshal") || stands.starts_with("pty");
        if (known && m_aliases.size() < kMaxAliases)
            m_aliases.insert_or_assign(name, stands);
    }

    const Source& m_source;
    const OwnModules& m_own;
    Findings& m_findings;
    std::vector<CodeToken> m_tokens;
    std::unordered_map<std::string_view, std::string> m_aliases;
};

} // namespace

void scanPython(const Source& source, const OwnModules& own, Findings& findings)
{
    PythonScan(source, own, findings).run();
}

} // namespace assay::registry::capabilities
