// SPDX-License-Identifier: Apache-2.0
#include "server/registry/capabilities/code_tokens.h"

#include <algorithm>
#include <array>

namespace assay::registry::capabilities {

namespace {

using Kind = CodeToken::Kind;

constexpr std::array<bool, 256> makeNameBytes()
{
    std::array<bool, 256> out{};
    for (int c = 0; c < 256; ++c)
        out[static_cast<std::size_t>(c)] = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                                           c == '_' || c == '$' || c >= 0x80;
    return out;
}
constexpr std::array<bool, 256> kNameBytes = makeNameBytes();
bool isNameByte(char c) { return kNameBytes[static_cast<unsigned char>(c)]; }

/// A word after which a slash begins a regular expression and does not divide.
bool isOperatorWord(std::string_view word)
{
    constexpr std::array<std::string_view, 9> words{"return", "typeof", "case", "in",   "of",
                                                    "do",     "else",   "void", "yield"};
    return std::ranges::contains(words, word);
}

class Lexer
{
public:
    Lexer(std::string_view text, Language language, std::uint32_t firstLine)
        : m_text(text), m_isPython(language == Language::Python), m_line(firstLine)
    {
        m_out.reserve(text.size() / 6);
    }

    std::vector<CodeToken> run()
    {
        if (m_text.starts_with("#!"))
            skipLine();
        while (m_at < m_text.size())
            step();
        dropIfDocumentation();
        return std::move(m_out);
    }

private:
    char peek(std::size_t ahead = 0) const { return m_at + ahead < m_text.size() ? m_text[m_at + ahead] : '\0'; }
    bool lookingAt(std::string_view what) const { return m_text.substr(m_at).starts_with(what); }
    void emit(Kind kind, std::uint32_t line, std::string_view text) { m_out.push_back({kind, line, text}); }

    void step()
    {
        const char c = peek();
        if (c == '\n')
            return endLine();
        if (c == ' ' || c == '\t' || c == '\r' || c == '\0')
            ++m_at;
        else if (isNameByte(c))
            readName();
        else if (c == '"' || c == '\'')
            readString(c);
        else if (m_isPython)
            stepPython(c);
        else
            stepJavaScript(c);
    }

    void stepPython(char c)
    {
        if (c == '#')
            return skipLine();
        if (c == '\\' && (peek(1) == '\n' || (peek(1) == '\r' && peek(2) == '\n'))) {
            m_at += peek(1) == '\n' ? 2 : 3;
            ++m_line;
            return;
        }
        mark(c);
    }

    void stepJavaScript(char c)
    {
        if (c == '/' && peek(1) == '/')
            return skipLine();
        if (c == '/' && peek(1) == '*')
            return skipBlockComment();
        if (c == '/' && mayBeginExpression())
            return skipRegularExpression();
        if (c == '`') {
            ++m_at;
            return readTemplate();
        }
        if (c == '}' && !m_templates.empty() && m_templates.back() == m_depth) {
            m_templates.pop_back();
            --m_depth;
            ++m_at;
            return readTemplate();
        }
        mark(c);
    }

    void mark(char c)
    {
        if (c == '(' || c == '[' || c == '{')
            ++m_depth;
        else if ((c == ')' || c == ']' || c == '}') && m_depth > 0)
            --m_depth;
        emit(Kind::Mark, m_line, m_text.substr(m_at, 1));
        ++m_at;
    }

    void endLine()
    {
        if (m_isPython)
            dropIfDocumentation();
        if (!m_out.empty() && m_out.back().kind != Kind::LineEnd)
            emit(Kind::LineEnd, m_line, {});
        ++m_line;
        ++m_at;
    }

    void skipLine() { m_at = std::min(m_text.find('\n', m_at), m_text.size()); }

    void skipBlockComment()
    {
        const std::size_t end = m_text.find("*/", m_at + 2);
        moveTo(end == std::string_view::npos ? m_text.size() : end + 2);
    }

    void moveTo(std::size_t end)
    {
        m_line += static_cast<std::uint32_t>(std::count(m_text.begin() + static_cast<std::ptrdiff_t>(m_at),
                                                        m_text.begin() + static_cast<std::ptrdiff_t>(end), '\n'));
        m_at = end;
    }

    void readName()
    {
        std::size_t end = m_at;
        while (end < m_text.size() && isNameByte(m_text[end]))
            ++end;
        const std::string_view name = m_text.substr(m_at, end - m_at);
        m_at = end;
        // r"", b"", f"", rb"" ...: the letters belong to the literal.
        if (m_isPython && name.size() <= 2 && (peek() == '"' || peek() == '\''))
            return;
        emit(Kind::Name, m_line, name);
    }

    void readString(char quote)
    {
        const std::array<char, 3> three{quote, quote, quote};
        if (m_isPython && lookingAt({three.data(), 3}))
            return readLongString({three.data(), 3});
        const std::size_t start = ++m_at;
        while (m_at < m_text.size() && m_text[m_at] != quote && m_text[m_at] != '\n')
            m_at += m_text[m_at] == '\\' && peek(1) != '\n' ? 2 : 1;
        m_at = std::min(m_at, m_text.size());
        emit(Kind::Text, m_line, m_text.substr(start, m_at - start));
        if (peek() == quote)
            ++m_at;
    }

    void readLongString(std::string_view quotes)
    {
        const std::uint32_t line = m_line;
        const std::size_t start = m_at + 3;
        std::size_t end = start;
        while (end < m_text.size() && !m_text.substr(end).starts_with(quotes))
            end += m_text[end] == '\\' ? 2 : 1;
        end = std::min(end, m_text.size());
        moveTo(std::min(end + 3, m_text.size()));
        emit(Kind::Text, line, m_text.substr(start, end - start));
    }

    /// After a backtick or the brace that ends an insertion: the text up to the next insertion or the end.
    void readTemplate()
    {
        const std::uint32_t line = m_line;
        const std::size_t start = m_at;
        std::size_t end = start;
        while (end < m_text.size() && m_text[end] != '`' && !m_text.substr(end).starts_with("${"))
            end += m_text[end] == '\\' ? 2 : 1;
        end = std::min(end, m_text.size());
        // The insertion's sign stays with the text before: "https://${" tells that the host is computed.
        const bool inserts = end < m_text.size() && m_text[end] == '$';
        const std::size_t shownEnd = end + (inserts ? 2 : 0);
        moveTo(std::min(end + (inserts ? 2 : 1), m_text.size()));
        if (shownEnd > start)
            emit(Kind::Text, line, m_text.substr(start, shownEnd - start));
        if (inserts)
            m_templates.push_back(++m_depth);
    }

    bool mayBeginExpression() const
    {
        if (m_out.empty())
            return true;
        const CodeToken& last = m_out.back();
        if (last.kind == Kind::Name)
            return isOperatorWord(last.text);
        if (last.kind == Kind::Mark)
            return !last.isMark(')') && !last.isMark(']') && !last.isMark('}');
        return last.kind == Kind::LineEnd;
    }

    void skipRegularExpression()
    {
        constexpr std::size_t kMaxBytes = 2000;        // what is longer is no expression that people write
        constexpr std::size_t kMaxInVain = 256 * 1024; // looked at for nothing in one file; then all are divisions
        if (m_lookedInVain > kMaxInVain)
            return mark('/');
        std::size_t end = m_at + 1;
        const std::size_t last = std::min(m_at + kMaxBytes, m_text.size());
        bool inClass = false;
        while (end < last && m_text[end] != '\n' && (inClass || m_text[end] != '/')) {
            if (m_text[end] == '[' || m_text[end] == ']')
                inClass = m_text[end] == '[';
            end += m_text[end] == '\\' && end + 1 < m_text.size() && m_text[end + 1] != '\n' ? 2 : 1;
        }
        if (end >= last || m_text[end] == '\n') {
            m_lookedInVain += end - m_at;
            return mark('/'); // it was a division
        }
        m_at = end + 1;
    }

    /// A literal that is a statement by itself documents; it does nothing.
    void dropIfDocumentation()
    {
        if (!m_isPython || m_depth > 0 || m_out.empty() || !m_out.back().isText())
            return;
        if (m_out.size() == 1 || m_out[m_out.size() - 2].kind == Kind::LineEnd)
            m_out.pop_back();
    }

    std::string_view m_text;
    bool m_isPython;
    std::size_t m_at = 0;
    std::size_t m_lookedInVain = 0;
    std::uint32_t m_line;
    std::uint32_t m_depth = 0;
    std::vector<std::uint32_t> m_templates; ///< the depths at which insertions end
    std::vector<CodeToken> m_out;
};

} // namespace

std::vector<CodeToken> codeTokens(std::string_view text, Language language, std::uint32_t firstLine)
{
    return Lexer(text, language, firstLine).run();
}

} // namespace assay::registry::capabilities
