// SPDX-License-Identifier: Apache-2.0
#include "app/cli/diff_text.h"

#include "app/cli/console.h"
#include "app/cli/json_fields.h"
#include "server/core/text.h"

namespace assay::cli {

namespace {

constexpr std::string_view kRed = "\x1b[31m";
constexpr std::string_view kGreen = "\x1b[32m";
constexpr std::string_view kCyan = "\x1b[36m";
constexpr std::string_view kBold = "\x1b[1m";
constexpr std::string_view kMark = "\x1b[7m";
constexpr std::string_view kUnmark = "\x1b[27m";
constexpr std::string_view kReset = "\x1b[0m";

std::string plainWithTabs(std::string_view text)
{
    std::string out;
    for (std::size_t at = 0; at <= text.size();) {
        const std::size_t end = std::min(text.find('\t', at), text.size());
        out += plain(text.substr(at, end - at)) + (end < text.size() ? "\t" : "");
        at = end + 1;
    }
    return out;
}

/// Takes `count` code points off the front.
std::string_view takeFront(std::string_view& text, std::uint64_t count)
{
    const std::string_view before = text;
    for (; count > 0 && !text.empty(); --count)
        static_cast<void>(takeCodePoint(text));
    return before.substr(0, before.size() - text.size());
}

class Writer
{
public:
    explicit Writer(Colour colour) : m_colour(colour) {}

    void files(const json::value& diff)
    {
        for (const json::value& file : itemsOf(diff, "files"))
            addFile(file);
    }

    void summary(const json::value& diff)
    {
        const auto count = [&](const char* member) {
            return std::to_string(numberOf(diff, std::string("counts.") + member));
        };
        if (itemsOf(diff, "files").empty()) {
            m_out += "no difference\n";
            return;
        }
        m_out += count("files") + " files changed: " + count("added") + " added, " + count("removed") + " removed, " +
                 count("modified") + " modified, " + count("renamed") + " renamed, " + count("mode_only") +
                 " of mode only; +" + count("additions") + " -" + count("deletions") + " lines";
        m_out += isTrue(diff, "counts.complete") ? "\n" : " and some that were not counted\n";
    }

    /// What the newer revision can newly do, or no longer; what stays is a count.
    void capabilities(const json::value& diff)
    {
        const auto count = [&](const char* member) { return numberOf(diff, std::string("capabilities.") + member); };
        if (count("added") + count("changed") + count("removed") > 0)
            add(kBold, "What this revision can newly do");
        for (const json::value& item : itemsOf(diff, "capabilities.items"))
            addCapability(item);
        if (count("left_out") > 0)
            m_out += "  and " + std::to_string(count("left_out")) + " more that are not listed\n";
        if (count("added") + count("changed") + count("removed") + count("unchanged") > 0)
            m_out += "  unchanged: " + std::to_string(count("unchanged")) + ". " +
                     plain(textOf(diff, "capabilities.notice")) + "\n\n";
    }

    std::string take() { return std::move(m_out); }

private:
    void add(std::string_view style, const std::string& text)
    {
        m_out += m_colour == Colour::On ? std::string(style) + text + std::string(kReset) : text;
        m_out += '\n';
    }

    void addCapability(const json::value& item)
    {
        const std::string change = textOf(item, "change");
        if (change == "unchanged")
            return;
        const auto line = numberOf(item, "line");
        std::string text = change == "added" ? "  + " : change == "removed" ? "  - " : "  ~ ";
        text += plain(textOf(item, "kind")) + ' ' + plain(textOf(item, "value")) + "  (" + plain(textOf(item, "path")) +
                (line > 0 ? ":" + std::to_string(line) : "") + ", " + plain(textOf(item, "rule")) + ")";
        add(change == "added" ? kGreen : change == "removed" ? kRed : kCyan, text);
    }

    void addFile(const json::value& file)
    {
        const std::string path = plain(textOf(file, "path"));
        const std::string oldPath = textOf(file, "old_path").empty() ? path : plain(textOf(file, "old_path"));
        std::string title = textOf(file, "status");
        if (title == "mode_only")
            title = "mode";
        title += ' ' + (oldPath == path ? path : oldPath + " -> " + path);
        if (memberOf(file, "similarity") != nullptr && numberOf(file, "similarity") > 0)
            title += " (" + std::to_string(numberOf(file, "similarity")) + "% alike)";
        add(kBold, title + modeText(file));
        addContent(file, oldPath, path);
    }

    static std::string modeText(const json::value& file)
    {
        const bool before = isTrue(file, "old.executable");
        const bool after = isTrue(file, "new.executable");
        if (before == after)
            return {};
        return after ? "  now executable" : "  no longer executable";
    }

    void addContent(const json::value& file, const std::string& oldPath, const std::string& path)
    {
        const std::string content = textOf(file, "content");
        const std::string status = textOf(file, "status");
        if (content == "binary")
            m_out += "  " + sideText(file, "old") + " -> " + sideText(file, "new") + '\n';
        else if (content == "too_large")
            m_out += "  too large to compare: " + sideText(file, "old") + " -> " + sideText(file, "new") + '\n';
        else if (content == "omitted")
            m_out += "  left out of this answer; see it alone with --path\n";
        else if (isTrue(file, "whitespace_only"))
            m_out += "  only whitespace differs\n";
        if (itemsOf(file, "hunks").empty())
            return;
        add(kBold, "--- " + (status == "added" ? std::string("/dev/null") : "a/" + oldPath));
        add(kBold, "+++ " + (status == "removed" ? std::string("/dev/null") : "b/" + path));
        for (const json::value& hunk : itemsOf(file, "hunks"))
            addHunk(hunk);
    }

    static std::string sideText(const json::value& file, const std::string& side)
    {
        const json::value* there = memberOf(file, side);
        if (there == nullptr || there->is_null())
            return "nothing";
        return plain(textOf(file, side + ".media_type")) + ", " + sizeText(numberOf(file, side + ".size_bytes"));
    }

    void addHunk(const json::value& hunk)
    {
        const auto range = [&](const std::string& side) {
            const auto lines = numberOf(hunk, side + "_lines");
            return std::to_string(numberOf(hunk, side + "_start")) + (lines == 1 ? "" : "," + std::to_string(lines));
        };
        const std::string section = plain(textOf(hunk, "section"));
        add(kCyan, "@@ -" + range("old") + " +" + range("new") + " @@" + (section.empty() ? "" : " " + section));
        for (const json::value& line : itemsOf(hunk, "lines"))
            addLine(line);
    }

    void addLine(const json::value& line)
    {
        const std::string kind = textOf(line, "kind");
        const bool isChange = kind != "context";
        std::string text = kind == "added" ? "+" : kind == "removed" ? "-" : " ";
        text += m_colour == Colour::On ? marked(line) : plainWithTabs(textOf(line, "text"));
        if (const auto cut = numberOf(line, "cut_bytes"); cut > 0)
            text += " ... and " + sizeText(cut);
        if (isChange && textOf(line, "eol") == "crlf")
            text += "\\r";
        add(kind == "added" ? kGreen : kind == "removed" ? kRed : "", text);
        if (textOf(line, "eol") == "none")
            m_out += "\\ No newline at end of file\n";
    }

    static std::string marked(const json::value& line)
    {
        const std::string whole = textOf(line, "text");
        std::string_view rest = whole;
        std::uint64_t at = 0;
        std::string out;
        for (const json::value& range : itemsOf(line, "intraline")) {
            const std::uint64_t start = numberOf(range, "start");
            const std::uint64_t length = numberOf(range, "length");
            out += plainWithTabs(takeFront(rest, start > at ? start - at : 0));
            out.append(kMark).append(plainWithTabs(takeFront(rest, length))).append(kUnmark);
            at = start + length;
        }
        return out + plainWithTabs(rest);
    }

    Colour m_colour;
    std::string m_out;
};

} // namespace

std::string diffText(const json::value& diff, Colour colour)
{
    Writer writer(colour);
    writer.capabilities(diff);
    writer.files(diff);
    writer.summary(diff);
    return writer.take();
}

} // namespace assay::cli
