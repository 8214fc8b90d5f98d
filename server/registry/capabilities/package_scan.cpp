// SPDX-License-Identifier: Apache-2.0
#include "server/registry/capabilities/package_scan.h"

#include "server/registry/capabilities/code_rules.h"
#include "server/registry/capabilities/manifest_rules.h"
#include "server/registry/capabilities/string_rules.h"
#include "server/registry/media_type.h"
#include "server/registry/skill_md.h"

#include <algorithm>
#include <array>

namespace assay::registry::capabilities {

namespace {

enum class Form : std::uint8_t { None, Python, JavaScript, Shell, Other, Markdown };

bool isOneOf(std::string_view word, std::span<const std::string_view> words)
{
    return std::ranges::contains(words, word);
}

Form formOfExtension(std::string_view extension)
{
    constexpr std::array<std::string_view, 8> javaScript{"js", "mjs", "cjs", "ts", "mts", "cts", "jsx", "tsx"};
    constexpr std::array<std::string_view, 4> shell{"sh", "bash", "zsh", "ksh"};
    constexpr std::array<std::string_view, 14> other{"rb",   "pl", "pm",  "php", "lua", "go", "rs",
                                                     "java", "kt", "ps1", "bat", "cmd", "r",  "swift"};
    if (extension == "py" || extension == "pyw")
        return Form::Python;
    if (isOneOf(extension, javaScript))
        return Form::JavaScript;
    if (isOneOf(extension, shell))
        return Form::Shell;
    if (extension == "md" || extension == "markdown")
        return Form::Markdown;
    return isOneOf(extension, other) ? Form::Other : Form::None;
}

Form formOfWord(std::string_view word)
{
    constexpr std::array<std::string_view, 8> shell{"sh",  "bash",  "zsh",     "dash",
                                                    "ksh", "shell", "console", "shell-session"};
    constexpr std::array<std::string_view, 9> javaScript{"js",  "javascript", "ts",  "typescript", "node",
                                                         "mjs", "jsx",        "tsx", "deno"};
    if (word == "py" || word.starts_with("python"))
        return Form::Python;
    if (isOneOf(word, shell))
        return Form::Shell;
    return isOneOf(word, javaScript) ? Form::JavaScript : Form::None;
}

/// "#!/usr/bin/env -S python3 -u" is python3; empty when there is none.
std::string_view interpreterOf(std::string_view text)
{
    if (!text.starts_with("#!"))
        return {};
    std::string_view rest = text.substr(2, std::min(text.find('\n'), text.size()) - 2);
    std::string_view out;
    while (!rest.empty()) {
        const std::size_t start = std::min(rest.find_first_not_of(" \t\r"), rest.size());
        rest.remove_prefix(start);
        const std::string_view word = rest.substr(0, std::min(rest.find_first_of(" \t\r"), rest.size()));
        rest.remove_prefix(word.size());
        const std::string_view name = word.substr(word.rfind('/') + 1);
        if (name.empty() || word.starts_with('-') || name == "env" || word.contains('='))
            continue;
        // A program at an unusual place is told with it.
        const bool isUsual = word.starts_with("/bin/") || word.starts_with("/usr/bin/") || !word.contains('/');
        out = isUsual ? name : word;
        break;
    }
    return out;
}

std::string_view nativeKind(std::string_view bytes)
{
    using namespace std::string_view_literals;
    struct Magic
    {
        std::string_view start;
        std::string_view kind;
    };
    constexpr std::array<Magic, 12> magics{{{"\x7f"
                                             "ELF"sv,
                                             "ELF program"},
                                            {"MZ"sv, "Windows program"},
                                            {"\xcf\xfa\xed\xfe"sv, "Mach-O program"},
                                            {"\xce\xfa\xed\xfe"sv, "Mach-O program"},
                                            {"\xca\xfe\xba\xbe"sv, "Java class or Mach-O program"},
                                            {"\0asm"sv, "WebAssembly"},
                                            {"PK\x03\x04"sv, "zip archive"},
                                            {"\x1f\x8b"sv, "gzip"},
                                            {"BZh"sv, "bzip2"},
                                            {"\xfd"
                                             "7zXZ"sv,
                                             "xz"},
                                            {"7z\xbc\xaf"sv, "7-zip archive"},
                                            {"Rar!"sv, "RAR archive"}}};
    for (const Magic& magic : magics)
        if (bytes.starts_with(magic.start))
            return magic.kind;
    return {};
}

class PackageScan
{
public:
    PackageScan(std::span<const PackageFile> files, const ScanLimits& limits) : m_files(files), m_limits(limits)
    {
        for (const PackageFile& file : files)
            addOwn(file.path);
    }

    contract::CapabilityReport run(std::string_view network, std::string_view allowedTools)
    {
        declared(network);
        tools(allowedTools);
        for (const PackageFile& file : m_files)
            facts(file);
        // Scripts before prose, so that a finding in both is told where it is executed.
        for (const PackageFile& file : m_files)
            if (formOf(file) != Form::Markdown)
                scan(file);
        for (const PackageFile& file : m_files)
            if (formOf(file) == Form::Markdown)
                scan(file);
        contract::CapabilityReport out = m_findings.take();
        out.rules = kRulesVersion;
        return out;
    }

private:
    /// The name of a Python file and of each folder above one can be imported.
    void addOwn(std::string_view path)
    {
        if (!path.ends_with(".py"))
            return;
        path.remove_suffix(3);
        while (!path.empty()) {
            const std::string_view part = path.substr(0, std::min(path.find('/'), path.size()));
            path.remove_prefix(std::min(part.size() + 1, path.size()));
            m_own.emplace(part);
        }
    }

    void declared(std::string_view network)
    {
        while (!network.empty()) {
            const std::string_view word = network.substr(0, std::min(network.find_first_of(" ,\t\n"), network.size()));
            network.remove_prefix(std::min(word.size() + 1, network.size()));
            if (!word.empty())
                m_findings.add(Kind::Network, "net.declared", word, kSkillMd, 0);
        }
    }

    /// Names separated by blanks; what stands in parentheses belongs to its name.
    void tools(std::string_view allowed)
    {
        int depth = 0;
        std::size_t start = 0;
        for (std::size_t i = 0; i <= allowed.size(); ++i) {
            if (i < allowed.size() && allowed[i] == '(')
                ++depth;
            else if (i < allowed.size() && allowed[i] == ')')
                depth = std::max(depth - 1, 0);
            else if (i == allowed.size() || (allowed[i] == ' ' && depth == 0)) {
                if (i > start)
                    m_findings.add(Kind::Tool, "tool.allowed", allowed.substr(start, i - start), kSkillMd, 0);
                start = i + 1;
            }
        }
    }

    static Form formOf(const PackageFile& file)
    {
        if (file.kind != FileKind::Text)
            return Form::None;
        const std::string_view interpreter = interpreterOf(file.content);
        // Started by itself, it is what its first line says; else what its name says.
        if (!file.executable || interpreter.empty()) {
            if (file.path == kSkillMd)
                return Form::Markdown;
            const Form byName = formOfExtension(extensionOf(file.path));
            if (byName != Form::None)
                return byName;
        }
        if (interpreter.empty())
            return Form::None;
        const Form byShebang = formOfWord(interpreter.substr(interpreter.rfind('/') + 1));
        return byShebang == Form::None ? Form::Other : byShebang;
    }

    void facts(const PackageFile& file)
    {
        const Form form = formOf(file);
        const bool isScript = form != Form::None && form != Form::Markdown;
        if (file.executable)
            m_findings.add(Kind::Executable, "exec.file", file.path, file.path, 0);
        else if (isScript && file.path.starts_with("scripts/"))
            m_findings.add(Kind::Executable, "exec.script", file.path, file.path, 0);
        if (const auto interpreter = interpreterOf(file.content); !interpreter.empty() && file.kind == FileKind::Text)
            m_findings.add(Kind::Executable, "exec.shebang", interpreter, file.path, 1);
        if (file.kind == FileKind::Asset)
            asset(file);
    }

    void asset(const PackageFile& file)
    {
        const std::string_view kind = nativeKind(file.content);
        if (kind.empty() && !file.executable)
            return; // an image, a font, a document: the list of files tells
        const bool isProgram = kind.contains("program") || kind == "WebAssembly" || kind.empty();
        const bool isDocument = kind == "zip archive" && file.mediaType.starts_with("application/vnd.");
        if (!isDocument)
            m_findings.add(Kind::Binary, isProgram ? "bin.program" : "bin.archive", file.path, file.path, 0);
    }

    void scan(const PackageFile& file)
    {
        const Form form = formOf(file);
        const bool isManifest = file.kind == FileKind::Text && isPackageManifest(file.path);
        if (form == Form::None && !isManifest)
            return;
        m_scanned += file.content.size();
        if (file.content.size() > m_limits.fileBytes || m_scanned > m_limits.totalBytes) {
            m_findings.add(Kind::Unscanned, "scan.too-large", file.path, file.path, 0);
            return;
        }
        const Source source{file.path, file.content};
        if (isManifest)
            scanManifest(source, m_findings);
        else if (form == Form::Markdown)
            markdown(source);
        else
            code(source, form);
    }

    void code(const Source& source, Form form)
    {
        switch (form) {
        case Form::Python:
            scanInlineMetadata(source, m_findings);
            return scanPython(source, m_own, m_findings);
        case Form::JavaScript:
            return scanJavaScript(source, m_findings);
        case Form::Shell:
            return scanShell(source, m_own, m_findings);
        default:
            return scanText(source.text, source.path, source.firstLine, m_findings);
        }
    }

    /// Blocks of code between fences that say a language: an agent is told to execute them.
    void markdown(const Source& source)
    {
        std::uint32_t line = 1;
        std::size_t counted = 0;
        for (std::size_t at = findFence(source.text, 0); at < source.text.size();) {
            const std::size_t contentStart = std::min(source.text.find('\n', at), source.text.size() - 1) + 1;
            const std::string_view opening = source.text.substr(at, contentStart - at);
            const std::size_t close = findClose(source.text, contentStart, opening);
            line += static_cast<std::uint32_t>(
                std::ranges::count(source.text.substr(counted, contentStart - counted), '\n'));
            counted = contentStart;
            if (const Form form = formOfWord(languageOf(opening)); form != Form::None)
                code({source.path, source.text.substr(contentStart, close - contentStart), line}, form);
            const std::size_t after = std::min(source.text.find('\n', close), source.text.size());
            at = findFence(source.text, after);
        }
    }

    /// The next line that begins with three backticks or tildes, indented or not; the text's size when there is none.
    static std::size_t findFence(std::string_view text, std::size_t from)
    {
        for (std::size_t at = from; at < text.size(); at = std::min(text.find('\n', at), text.size() - 1) + 1) {
            const std::size_t start = text.find_first_not_of(" \t\n\r>", at);
            if (start == std::string_view::npos)
                return text.size();
            if (text.substr(start).starts_with("```") || text.substr(start).starts_with("~~~"))
                return start;
            at = start;
        }
        return text.size();
    }

    static std::size_t findClose(std::string_view text, std::size_t from, std::string_view opening)
    {
        const std::string_view fence = opening.substr(0, opening.find_first_not_of(opening.front()));
        for (std::size_t at = from; at < text.size(); at = std::min(text.find('\n', at), text.size() - 1) + 1) {
            const std::size_t start = std::min(text.find_first_not_of(" \t>", at), text.size());
            if (text.substr(start).starts_with(fence))
                return at;
        }
        return text.size();
    }

    static std::string_view languageOf(std::string_view opening)
    {
        const std::size_t start = std::min(opening.find_first_not_of("`~ {."), opening.size());
        return opening.substr(start, std::min(opening.find_first_of(" \t\r\n},", start), opening.size()) - start);
    }

    std::span<const PackageFile> m_files;
    const ScanLimits& m_limits;
    OwnModules m_own;
    Findings m_findings;
    std::uint64_t m_scanned = 0;
};

} // namespace

contract::CapabilityReport scanPackage(std::span<const PackageFile> files, std::string_view network,
                                       std::string_view allowedTools, const ScanLimits& limits)
{
    return PackageScan(files, limits).run(network, allowedTools);
}

} // namespace assay::registry::capabilities
