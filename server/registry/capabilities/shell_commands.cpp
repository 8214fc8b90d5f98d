// SPDX-License-Identifier: Apache-2.0
#include "server/registry/capabilities/shell_commands.h"

#include <algorithm>
#include <array>
#include <unordered_set>

namespace assay::registry::capabilities {

namespace {

bool isNameByte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// Words after which another command begins.
bool opensCommand(std::string_view word)
{
    constexpr std::array<std::string_view, 10> words{"do",    "then",  "else", "elif", "if",
                                                     "while", "until", "!",    "{",    "time"};
    return std::ranges::contains(words, word);
}

class Reader
{
public:
    Reader(std::string_view text, std::uint32_t firstLine) : m_text(text), m_line(firstLine)
    {
        m_out.commands.push_back({});
    }

    ShellScript run()
    {
        while (m_at < m_text.size())
            step();
        endCommand(false);
        std::erase_if(m_out.commands, [](const ShellCommand& command) { return command.words.empty(); });
        return std::move(m_out);
    }

private:
    enum class Place : std::uint8_t { Command, Quotes };
    char peek(std::size_t by = 0) const { return m_at + by < m_text.size() ? m_text[m_at + by] : '\0'; }

    void step()
    {
        if (m_places.back() == Place::Quotes)
            return stepQuoted();
        const char c = peek();
        switch (c) {
        case '\n':
            endCommand(false);
            ++m_line;
            ++m_at;
            return takeDocuments();
        case ' ':
        case '\t':
        case '\r':
            endWord();
            ++m_at;
            return;
        case '#':
            if (!m_inWord)
                return skipComment();
            return inWord(1);
        case ';':
        case '&':
            endCommand(false);
            ++m_at;
            return;
        case '|':
            endCommand(peek(1) != '|');
            m_at += peek(1) == '|' ? 2 : 1;
            return;
        default:
            stepWord(c);
        }
    }

    void stepWord(char c)
    {
        switch (c) {
        case '\'':
            return skipSingleQuotes();
        case '"':
            inWord(1);
            m_places.push_back(Place::Quotes);
            return;
        case '\\':
            return backslash();
        case '$':
            return dollar();
        case '`':
        case '(':
            endCommand(false);
            ++m_at;
            return;
        case ')':
            return closeParenthesis();
        case '<':
            if (peek(1) == '<' && peek(2) != '<')
                return hereDocument();
            return redirection();
        case '>':
            return redirection();
        default:
            inWord(1);
        }
    }

    /// At a line's end it joins the lines; before another character it belongs to the word.
    void backslash()
    {
        if (peek(1) != '\n')
            return inWord(2);
        ++m_line;
        if (m_inWord)
            return inWord(2);
        m_at += 2;
    }

    void stepQuoted()
    {
        const char c = peek();
        if (c == '"') {
            m_places.pop_back();
            return inWord(1);
        }
        if (c == '\n')
            ++m_line;
        if (c == '$')
            return dollar();
        inWord(c == '\\' ? 2 : 1);
    }

    /// `$NAME`, `${NAME...`, `$(`: a command in the middle of a word or of quotes.
    void dollar()
    {
        if (peek(1) == '(' && peek(2) != '(') {
            endCommand(false);
            m_places.push_back(Place::Command);
            m_at += 2;
            return;
        }
        const std::size_t start = m_at + (peek(1) == '{' ? 2 : 1);
        std::size_t end = start;
        while (end < m_text.size() && isNameByte(m_text[end]))
            ++end;
        const std::string_view name = m_text.substr(start, end - start);
        if (!name.empty() && !(name.front() >= '0' && name.front() <= '9') && !m_assigned.contains(name))
            m_out.variables.push_back({name, m_line});
        inWord(std::max<std::size_t>(end - m_at, 1));
    }

    void closeParenthesis()
    {
        endCommand(false);
        if (m_places.size() > 1 && m_places.back() == Place::Command)
            m_places.pop_back();
        ++m_at;
    }

    void skipSingleQuotes()
    {
        const std::size_t end = std::min(m_text.find('\'', m_at + 1), m_text.size());
        const auto piece = m_text.substr(m_at, end - m_at);
        m_line += static_cast<std::uint32_t>(std::ranges::count(piece, '\n'));
        inWord(end + 1 - m_at);
    }

    void skipComment() { m_at = std::min(m_text.find('\n', m_at), m_text.size()); }

    void redirection()
    {
        endWord();
        while (peek() == '<' || peek() == '>' || peek() == '&')
            ++m_at;
    }

    void hereDocument()
    {
        endWord();
        m_at += 2;
        const bool stripsTabs = peek() == '-';
        m_at += stripsTabs ? 1 : 0;
        while (peek() == ' ')
            ++m_at;
        const std::size_t start = m_at;
        while (m_at < m_text.size() && !std::string_view(" \t\r\n;|&<>()").contains(m_text[m_at]))
            ++m_at;
        m_waiting.push_back({unquoted(m_text.substr(start, m_at - start)), stripsTabs, m_out.commands.size() - 1});
    }

    /// At the start of a line: what the commands of the line before wait for.
    void takeDocuments()
    {
        for (const Waiting& waiting : m_waiting) {
            const std::size_t start = m_at;
            const std::uint32_t line = m_line;
            while (m_at < m_text.size()) {
                const std::size_t end = std::min(m_text.find('\n', m_at), m_text.size());
                std::string_view row = m_text.substr(m_at, end - m_at);
                const std::size_t rowStart = m_at;
                m_at = std::min(end + 1, m_text.size());
                ++m_line;
                if (row.ends_with('\r'))
                    row.remove_suffix(1);
                while (waiting.stripsTabs && row.starts_with('\t'))
                    row.remove_prefix(1);
                if (row != waiting.end && end < m_text.size())
                    continue;
                m_out.documents.push_back({m_text.substr(start, rowStart - start), line, waiting.command});
                break;
            }
        }
        m_waiting.clear();
    }

    void inWord(std::size_t bytes)
    {
        if (!m_inWord) {
            m_inWord = true;
            m_wordStart = m_at;
            if (m_out.commands.back().words.empty())
                m_out.commands.back().line = m_line;
        }
        m_at = std::min(m_at + bytes, m_text.size());
    }

    void endWord()
    {
        if (!m_inWord)
            return;
        m_inWord = false;
        const std::string_view word = m_text.substr(m_wordStart, m_at - m_wordStart);
        if (const auto name = assignedBy(word); !name.empty())
            m_assigned.insert(name);
        ShellCommand& command = m_out.commands.back();
        // "X=1 command", "if command", "{ command": what counts is the command.
        if (command.words.empty() && (opensCommand(word) || !assignedBy(word).empty())) {
            command.line = m_line;
            return;
        }
        command.words.push_back(word);
        const std::string_view first = command.words.front();
        if (command.words.size() == 2 && (first == "for" || first == "read" || first == "local" || first == "declare"))
            m_assigned.insert(word);
    }

    static std::string_view assignedBy(std::string_view word)
    {
        std::size_t end = 0;
        while (end < word.size() && isNameByte(word[end]))
            ++end;
        return end > 0 && end < word.size() && word[end] == '=' ? word.substr(0, end) : std::string_view();
    }

    void endCommand(bool pipes)
    {
        endWord();
        ShellCommand& last = m_out.commands.back();
        if (last.words.empty()) {
            last.takesPipe = last.takesPipe || pipes;
            return;
        }
        m_out.commands.push_back({.words = {}, .line = m_line, .takesPipe = pipes});
    }

    struct Waiting
    {
        std::string end;
        bool stripsTabs;
        std::size_t command;
    };

    std::string_view m_text;
    std::size_t m_at = 0;
    std::size_t m_wordStart = 0;
    std::uint32_t m_line;
    bool m_inWord = false;
    std::vector<Place> m_places{Place::Command};
    std::vector<Waiting> m_waiting;
    std::unordered_set<std::string_view> m_assigned;
    ShellScript m_out;
};

} // namespace

ShellScript readShell(std::string_view text, std::uint32_t firstLine) { return Reader(text, firstLine).run(); }

std::string unquoted(std::string_view word)
{
    std::string out;
    for (std::size_t i = 0; i < word.size(); ++i) {
        const char c = word[i];
        const bool joinsLines = c == '\n' && i > 0 && word[i - 1] == '\\';
        if (c != '"' && c != '\'' && c != '\\' && !joinsLines)
            out += c;
    }
    return out;
}

} // namespace assay::registry::capabilities
