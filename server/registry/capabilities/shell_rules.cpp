// SPDX-License-Identifier: Apache-2.0
#include "server/registry/capabilities/code_rules.h"
#include "server/registry/capabilities/known_names.h"
#include "server/registry/capabilities/shell_commands.h"
#include "server/registry/capabilities/string_rules.h"

#include <algorithm>
#include <array>
#include <span>

namespace assay::registry::capabilities {

namespace {

using Words = std::span<const std::string>;

bool isOneOf(std::string_view word, std::span<const std::string_view> words)
{
    return std::ranges::contains(words, word);
}

/// Programs that talk over a network by their nature.
constexpr std::array<std::string_view, 16> kNetworkPrograms{"curl", "wget",     "ssh",    "scp",    "sftp", "rsync",
                                                            "nc",   "ncat",     "netcat", "telnet", "ftp",  "socat",
                                                            "dig",  "nslookup", "aria2c", "gh"};
/// Programs that run others, change the machine, or reach over it.
constexpr std::array<std::string_view, 14> kPowerPrograms{"sudo",      "su",      "doas",   "docker",  "podman",
                                                          "systemctl", "crontab", "chroot", "nsenter", "unshare",
                                                          "mount",     "kill",    "pkill",  "nohup"};
constexpr std::array<std::string_view, 8> kWrappers{"sudo", "doas", "env", "exec", "command", "nohup", "time", "xargs"};
constexpr std::array<std::string_view, 5> kShells{"sh", "bash", "zsh", "dash", "ksh"};

bool isPython(std::string_view program) { return program.starts_with("python"); }
bool isInterpreter(std::string_view program)
{
    return isOneOf(program, kShells) || isPython(program) || program == "node" || program == "perl" ||
           program == "ruby";
}

std::string_view baseName(std::string_view program) { return program.substr(program.rfind('/') + 1); }

/// Who installs: the words that name the installer and its verb, and what a found package is called.
struct Installer
{
    std::array<std::string_view, 4> words; ///< empty ones do not count
    std::string_view ecosystem;
};
constexpr std::array<Installer, 34> kInstallers{{
    {{"pip", "install"}, "python"},
    {{"pip3", "install"}, "python"},
    {{"pip", "download"}, "python"},
    {{"pipx", "install"}, "python"},
    {{"pipx", "run"}, "python"},
    {{"uv", "pip", "install"}, "python"},
    {{"uv", "add"}, "python"},
    {{"uvx"}, "python"},
    {{"uv", "tool", "install"}, "python"},
    {{"poetry", "add"}, "python"},
    {{"conda", "install"}, "conda"},
    {{"mamba", "install"}, "conda"},
    {{"easy_install"}, "python"},
    {{"npm", "install"}, "npm"},
    {{"npm", "i"}, "npm"},
    {{"npm", "add"}, "npm"},
    {{"npm", "exec"}, "npm"},
    {{"npx"}, "npm"},
    {{"yarn", "add"}, "npm"},
    {{"yarn", "dlx"}, "npm"},
    {{"pnpm", "add"}, "npm"},
    {{"pnpm", "install"}, "npm"},
    {{"pnpm", "dlx"}, "npm"},
    {{"bun", "add"}, "npm"},
    {{"bunx"}, "npm"},
    {{"apt", "install"}, "apt"},
    {{"apt-get", "install"}, "apt"},
    {{"apk", "add"}, "apk"},
    {{"dnf", "install"}, "rpm"},
    {{"yum", "install"}, "rpm"},
    {{"brew", "install"}, "brew"},
    {{"gem", "install"}, "gem"},
    {{"cargo", "install"}, "cargo"},
    {{"go", "install"}, "go"},
}};

/// Options whose next word is theirs and no package.
bool takesWord(std::string_view option)
{
    constexpr std::array<std::string_view, 14> options{
        "-r", "--requirement", "-c",       "--constraint", "-i", "--index-url", "--extra-index-url",
        "-t", "--target",      "--prefix", "--python",     "-p", "--registry",  "-n"};
    return isOneOf(option, options);
}

/// "name[extra]>=1.0" is name, "@scope/name@1" is @scope/name.
std::string_view packageName(std::string_view word)
{
    const std::size_t from = word.starts_with('@') ? 1 : 0;
    return word.substr(0, std::min(word.find_first_of("=<>!~[;@", from), word.size()));
}

class ShellScan
{
public:
    ShellScan(const Source& source, const OwnModules& own, Findings& findings)
        : m_source(source), m_own(own), m_findings(findings), m_script(readShell(source.text, source.firstLine))
    {}

    void run()
    {
        for (const ShellVariable& variable : m_script.variables)
            if (looksLikeCredential(variable.name))
                tellVariable(variable.name, m_source.path, variable.line, m_findings);
        for (const ShellCommand& command : m_script.commands)
            judge(command);
        for (const HereDocument& document : m_script.documents)
            judge(document);
    }

private:
    void add(Kind kind, std::string_view rule, std::string_view value)
    {
        m_findings.add(kind, rule, value, m_source.path, m_line);
    }

    void judge(const ShellCommand& command)
    {
        constexpr std::size_t kMaxWords = 200; // enough for an install line; a longer list is data
        m_line = command.line;
        for (const std::string_view word : command.words)
            scanText(word, m_source.path, command.line, m_findings);
        std::vector<std::string> words;
        for (const std::string_view word : command.words) {
            if (words.size() == kMaxWords)
                break;
            words.push_back(unquoted(word));
        }
        program(words, command);
    }

    void program(Words words, const ShellCommand& command)
    {
        while (!words.empty()) {
            const std::string_view name = baseName(words.front());
            byName(name, words, command);
            if (!isOneOf(name, kWrappers))
                return;
            // "sudo -E X=1 curl": what is wrapped is a program too.
            words = words.subspan(1);
            while (!words.empty() && (words.front().starts_with('-') || words.front().contains('=')))
                words = words.subspan(1);
        }
    }

    void byName(std::string_view name, Words words, const ShellCommand& command)
    {
        if (isOneOf(name, kNetworkPrograms))
            add(Kind::Network, "net.client", "shell:" + std::string(name));
        if (isOneOf(name, kPowerPrograms))
            add(Kind::Process, "proc.command", name);
        if (name == "git")
            git(words);
        if (name == "eval")
            add(Kind::Process, "code.dynamic", "shell:" + std::string(name));
        if (name == "printenv" || (name == "env" && words.size() == 1))
            tellAllVariables(m_source.path, m_line, m_findings);
        if (isInterpreter(name))
            interpreter(name, words, command);
        install(name, words);
    }

    void git(Words words)
    {
        constexpr std::array<std::string_view, 6> verbs{"clone", "fetch", "pull", "push", "ls-remote", "submodule"};
        if (words.size() > 1 && isOneOf(words[1], verbs))
            add(Kind::Network, "net.client", "shell:git");
    }

    void interpreter(std::string_view name, Words words, const ShellCommand& command)
    {
        if (command.takesPipe && (words.size() == 1 || words[1] == "-" || words[1] == "-s"))
            add(Kind::Process, "code.dynamic", "| " + std::string(name));
        if (isPython(name) && words.size() > 3 && words[1] == "-m" && words[2] == "pip")
            install("pip", words.subspan(2));
        for (std::size_t i = 1; i + 1 < words.size() && words[i].starts_with('-'); ++i) {
            if (words[i] != "-c" && words[i] != "-e" && words[i] != "-lc")
                continue;
            add(Kind::Process, "code.dynamic", std::string(name) + " " + words[i]);
            nested(name, inner(command, words[i]), command.line);
            return;
        }
    }

    /// The quoted word after the option, as written between its quotes.
    static std::string_view inner(const ShellCommand& command, std::string_view option)
    {
        const auto found = std::ranges::find(command.words, option);
        if (found == command.words.end() || found + 1 == command.words.end())
            return {};
        std::string_view word = *(found + 1);
        if (word.size() >= 2 && (word.front() == '"' || word.front() == '\'') && word.back() == word.front())
            word = word.substr(1, word.size() - 2);
        return word;
    }

    void nested(std::string_view program, std::string_view text, std::uint32_t line)
    {
        if (text.empty() || m_source.depth + 1 >= kMaxDepth)
            return;
        const Source source{m_source.path, text, line, m_source.depth + 1};
        if (isPython(program))
            scanPython(source, m_own, m_findings);
        else if (program == "node")
            scanJavaScript(source, m_findings);
        else if (isOneOf(program, kShells))
            scanShell(source, m_own, m_findings);
    }

    void judge(const HereDocument& document)
    {
        std::string program;
        if (document.command < m_script.commands.size() && !m_script.commands[document.command].words.empty())
            program = unquoted(m_script.commands[document.command].words.front());
        const std::string_view name = baseName(program);
        if (isInterpreter(name) && m_source.depth + 1 < kMaxDepth)
            nested(name, document.text, document.line);
        else
            scanText(document.text, m_source.path, document.line, m_findings);
    }

    void install(std::string_view name, Words words)
    {
        for (const Installer& installer : kInstallers) {
            if (installer.words.front() != name)
                continue;
            std::size_t used = 1;
            while (used < installer.words.size() && !installer.words[used].empty() && used < words.size() &&
                   words[used] == installer.words[used])
                ++used;
            if (used < installer.words.size() && !installer.words[used].empty())
                continue;
            return packages(installer, words.subspan(used));
        }
    }

    void packages(const Installer& installer, Words words)
    {
        const std::string_view first = installer.words.front();
        const bool runsOne = first == "npx" || first == "uvx" || first == "bunx";
        for (std::size_t i = 0; i < words.size(); ++i) {
            const std::string& word = words[i];
            if (word.starts_with('-')) {
                i += takesWord(word) ? 1 : 0;
                continue;
            }
            if (word.starts_with('>') || word.starts_with('<'))
                return;
            const std::string_view package = packageName(word);
            // A folder is the package's own matter; an address is told as a host.
            const bool isPath = installer.ecosystem == "python" && package.contains('/');
            const bool isLocal = package.empty() || package.starts_with('.') || package.starts_with('/') ||
                                 package.contains('$') || package.contains("://") || isPath;
            const bool isThere = installer.ecosystem == "python" && isPythonStandard(package);
            if (!isLocal && !isThere)
                add(Kind::Package, "pkg.install", std::string(installer.ecosystem) + ":" + std::string(package));
            if (runsOne)
                return;
        }
    }

    const Source& m_source;
    const OwnModules& m_own;
    Findings& m_findings;
    ShellScript m_script;
    std::uint32_t m_line = 1;
};

} // namespace

void scanShell(const Source& source, const OwnModules& own, Findings& findings)
{
    ShellScan(source, own, findings).run();
}

} // namespace assay::registry::capabilities
