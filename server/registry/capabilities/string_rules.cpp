// SPDX-License-Identifier: Apache-2.0
#include "server/registry/capabilities/string_rules.h"

#include <algorithm>
#include <array>

namespace assay::registry::capabilities {

namespace {

constexpr std::size_t kMaxHostBytes = 253;
constexpr std::size_t kMaxPathBytes = 120;

bool isLower(char c) { return c >= 'a' && c <= 'z'; }
bool isDigit(char c) { return c >= '0' && c <= '9'; }
char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
bool isHostByte(char c) { return isLower(lower(c)) || isDigit(c) || c == '.' || c == '-' || c == '_'; }

std::string lowered(std::string_view text)
{
    std::string out(text);
    std::ranges::transform(out, out.begin(), lower);
    return out;
}

/// What may stand before a path for it to be one: nothing, a blank, a quote, an assignment, a redirection.
bool isBoundary(std::string_view text, std::size_t at)
{
    return at == 0 || std::string_view(" \t\n\r\"'`=:<>(,[{@|;&").contains(text[at - 1]);
}

std::string_view pathAt(std::string_view text, std::size_t at)
{
    constexpr std::string_view ends = " \t\n\r\"'`<>(),;|&[]{}*?\\";
    const std::string_view window = text.substr(at, kMaxPathBytes);
    return window.substr(0, window.find_first_of(ends));
}

/// Addresses that name a vocabulary and are never asked for.
bool isVocabulary(std::string_view host)
{
    constexpr std::array<std::string_view, 12> names{"www.w3.org",
                                                     "schemas.openxmlformats.org",
                                                     "schemas.microsoft.com",
                                                     "schemas.xmlsoap.org",
                                                     "purl.org",
                                                     "xmlns.com",
                                                     "json-schema.org",
                                                     "ns.adobe.com",
                                                     "docs.oasis-open.org",
                                                     "www.sitemaps.org",
                                                     "www.opengis.net",
                                                     "openoffice.org"};
    return std::ranges::contains(names, host);
}

bool isAddressScheme(std::string_view scheme)
{
    constexpr std::array<std::string_view, 5> others{"file", "data", "urn", "about", "blob"};
    return !scheme.empty() && !std::ranges::contains(others, scheme);
}

std::string_view schemeBefore(std::string_view text, std::size_t colon)
{
    std::size_t start = colon;
    while (start > 0 && colon - start < 16 &&
           (isLower(lower(text[start - 1])) || isDigit(text[start - 1]) || text[start - 1] == '+'))
        --start;
    return text.substr(start, colon - start);
}

/// The host of the authority that begins at `at`, with its port, in whatever form it is written: a name, one label, a
/// number, an IPv6 literal, letters beyond ASCII. Bounded, and cut between characters; empty when none is written out.
std::string_view hostAt(std::string_view text, std::size_t at)
{
    std::string_view window = text.substr(at, kMaxHostBytes);
    if (const std::size_t end = at + window.size(); end < text.size())
        while (!window.empty() && (static_cast<unsigned char>(text[at + window.size()]) & 0xC0) == 0x80)
            window.remove_suffix(1);
    std::string_view authority = window.substr(0, window.find_first_of("/?#\"'` \t\n\r<>\\){};,|$%*"));
    if (const auto user = authority.rfind('@'); user != std::string_view::npos)
        authority.remove_prefix(user + 1);
    // A bracket belongs to an IPv6 literal, or closes what the address stands in.
    const bool isLiteral = authority.starts_with('[');
    if (const auto bracket = authority.find(']'); bracket != std::string_view::npos && !isLiteral)
        authority = authority.substr(0, bracket);
    const auto control = std::ranges::find_if(authority, [](char c) { return (c >= 0 && c < ' ') || c == 0x7F; });
    authority = authority.substr(0, static_cast<std::size_t>(control - authority.begin()));
    const bool isNamed = std::ranges::any_of(
        authority, [](char c) { return isLower(lower(c)) || isDigit(c) || static_cast<unsigned char>(c) >= 0x80; });
    return isNamed ? authority : std::string_view();
}

/// A whole literal that can hardly be anything but a host: three labels, and a last one that many hosts have.
bool isBareHost(std::string_view text)
{
    constexpr std::array<std::string_view, 12> ends{".com", ".org",   ".net", ".io",  ".dev", ".ai",
                                                    ".app", ".cloud", ".gov", ".edu", ".de",  ".uk"};
    if (text.size() < 7 || text.size() > kMaxHostBytes || std::ranges::count(text, '.') < 2 || text.contains(".."))
        return false;
    return std::ranges::all_of(text, isHostByte) && !text.starts_with('.') &&
           std::ranges::any_of(ends, [&](std::string_view end) { return text.ends_with(end); });
}

/// Folders outside the workspace. Programs and libraries of the base (/usr, /bin, /lib) and /tmp are not told.
bool isOutsideRoot(std::string_view path)
{
    constexpr std::array<std::string_view, 19> roots{
        "etc", "home", "root", "var",   "opt",     "proc",         "sys",     "dev",     "mnt",   "media",
        "srv", "run",  "boot", "Users", "Library", "Applications", "private", "Volumes", "System"};
    constexpr std::array<std::string_view, 9> harmless{"/dev/null",   "/dev/stdin",   "/dev/stdout",
                                                       "/dev/stderr", "/dev/tty",     "/dev/zero",
                                                       "/dev/random", "/dev/urandom", "/dev/fd"};
    constexpr std::array<std::string_view, 3> alone{"etc", "proc", "sys"};
    const std::size_t slash = std::min(path.find('/', 1), path.size());
    const std::string_view first = path.substr(1, slash - 1);
    // "/home" or "/media" by itself is more often an address within a site than a folder.
    const bool isPath = slash + 1 < path.size() || std::ranges::contains(alone, first);
    if (!isPath || !std::ranges::contains(roots, first))
        return false;
    return !std::ranges::any_of(harmless, [&](std::string_view one) {
        return path.starts_with(one) && (path.size() == one.size() || path[one.size()] == '/');
    });
}

/// Does a path with `..` leave the package, seen from the script's folder?
bool leavesPackage(std::string_view path, std::string_view scriptPath)
{
    auto depth = std::ranges::count(scriptPath, '/');
    while (!path.empty()) {
        const std::string_view part = path.substr(0, path.find('/'));
        path.remove_prefix(std::min(part.size() + 1, path.size()));
        depth += part == ".." ? -1 : part.empty() || part == "." ? 0 : 1;
        if (depth < 0)
            return true;
    }
    return false;
}

bool isCredentialFile(std::string_view rest)
{
    constexpr std::array<std::string_view, 12> names{
        ".ssh",         ".aws",   ".netrc", ".npmrc",         ".pypirc", ".git-credentials", ".docker/config.json",
        ".kube/config", ".gnupg", ".env",   ".config/gcloud", ".azure"};
    return std::ranges::any_of(names, [&](std::string_view name) {
        return rest.starts_with(name) && (rest.size() == name.size() || !(isHostByte(rest[name.size()])));
    });
}

class TextScan
{
public:
    TextScan(std::string_view text, std::string_view scriptPath, std::uint32_t line, Findings& findings)
        : m_text(text), m_scriptPath(scriptPath), m_line(line), m_findings(findings)
    {}

    void run()
    {
        if (isBareHost(m_text))
            add(Kind::Network, "net.host", lowered(m_text));
        for (std::size_t at = 0; at < m_text.size(); ++at) {
            switch (m_text[at]) {
            case '\n':
                ++m_line;
                break;
            case ':':
                address(at);
                break;
            case '/':
                absolute(at);
                break;
            case '~':
                if (isBoundary(m_text, at) && at + 1 < m_text.size() && m_text[at + 1] == '/')
                    add(Kind::File, "file.outside", pathAt(m_text, at));
                break;
            case '.':
                dots(at);
                break;
            default:
                break;
            }
        }
    }

private:
    void add(Kind kind, std::string_view rule, std::string_view value)
    {
        m_findings.add(kind, rule, value, m_scriptPath, m_line);
    }

    void address(std::size_t colon)
    {
        if (!m_text.substr(colon).starts_with("://") || !isAddressScheme(schemeBefore(m_text, colon)))
            return;
        const std::string_view host = hostAt(m_text, colon + 3);
        const std::size_t end = host.empty() ? colon + 3 : static_cast<std::size_t>(host.end() - m_text.begin());
        if (isInsertion(end)) {
            add(Kind::Network, "net.url-computed", "(computed)");
        } else if (!host.empty()) {
            if (const std::string name = lowered(host.substr(0, host.find_last_not_of(".:") + 1));
                !name.empty() && !isVocabulary(name))
                add(Kind::Network, "net.url", name);
        }
    }

    /// "{host}", "${HOST}", "%s", and "<host>" as a whole
    bool isInsertion(std::size_t at) const
    {
        return at < m_text.size() && std::string_view(m_text[at - 1] == '/' ? "{$%<" : "{$%").contains(m_text[at]);
    }

    void absolute(std::size_t at)
    {
        if (!isBoundary(m_text, at))
            return;
        if (const auto path = pathAt(m_text, at); isOutsideRoot(path))
            add(Kind::File, "file.outside", path);
    }

    void dots(std::size_t at)
    {
        const bool begins = isBoundary(m_text, at);
        if (begins && m_text.substr(at).starts_with("../")) {
            if (const auto path = pathAt(m_text, at); leavesPackage(path, m_scriptPath))
                add(Kind::File, "file.outside", path);
        } else if ((begins || m_text[at - 1] == '/') && isCredentialFile(m_text.substr(at, kMaxPathBytes))) {
            add(Kind::Credential, "cred.file", pathAt(m_text, at));
        }
    }

    std::string_view m_text;
    std::string_view m_scriptPath;
    std::uint32_t m_line;
    Findings& m_findings;
};

bool isEverybodys(std::string_view name)
{
    constexpr std::array<std::string_view, 24> names{"PATH",   "HOME",  "USER",     "LOGNAME",  "PWD",   "OLDPWD",
                                                     "SHELL",  "TERM",  "LANG",     "LANGUAGE", "TZ",    "TMPDIR",
                                                     "TMP",    "TEMP",  "HOSTNAME", "COLUMNS",  "LINES", "NO_COLOR",
                                                     "EDITOR", "PAGER", "DISPLAY",  "DEBUG",    "CI",    "NODE_ENV"};
    return std::ranges::contains(names, name) || name.starts_with("LC_") || name.starts_with("XDG_");
}

} // namespace

void scanText(std::string_view text, std::string_view scriptPath, std::uint32_t line, Findings& findings)
{
    TextScan(text, scriptPath, line, findings).run();
}

bool looksLikeCredential(std::string_view name)
{
    constexpr std::array<std::string_view, 16> words{
        "KEY",  "KEYS", "TOKEN",       "TOKENS", "SECRET", "SECRETS", "PASSWORD", "PASSWD",
        "PASS", "PAT",  "CREDENTIALS", "AUTH",   "APIKEY", "COOKIE",  "DSN",      "CREDENTIAL"};
    while (!name.empty()) {
        const std::string_view word = name.substr(0, name.find('_'));
        name.remove_prefix(std::min(word.size() + 1, name.size()));
        std::string upper(word);
        std::ranges::transform(upper, upper.begin(),
                               [](char c) { return isLower(c) ? static_cast<char>(c - 'a' + 'A') : c; });
        if (std::ranges::contains(words, std::string_view(upper)))
            return true;
    }
    return false;
}

void tellVariable(std::string_view name, std::string_view scriptPath, std::uint32_t line, Findings& findings)
{
    if (name.empty() || isEverybodys(name))
        return;
    if (looksLikeCredential(name))
        findings.add(Kind::Credential, "env.credential", name, scriptPath, line);
    else
        findings.add(Kind::Environment, "env.read", name, scriptPath, line);
}

void tellAllVariables(std::string_view scriptPath, std::uint32_t line, Findings& findings)
{
    findings.add(Kind::Credential, "env.all", "(all variables)", scriptPath, line);
}

} // namespace assay::registry::capabilities
