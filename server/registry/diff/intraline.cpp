// SPDX-License-Identifier: Apache-2.0
#include "server/registry/diff/intraline.h"

#include "server/registry/diff/line_pairs.h"

#include <algorithm>

namespace assay::registry::diff {

namespace {

using contract::DiffLine;
using contract::LineKind;
using contract::TextRange;

constexpr std::size_t kMaxTokens = 1000;
// Marks on lines that share less than this are noise: the whole line is new then.
constexpr unsigned kLeastLikeness = 25;

/// Which tokens of two lines stay, by the longest common subsequence between what they begin and end with alike.
class Common
{
public:
    Common(std::span<const Token> one, std::span<const Token> other)
        : m_one(one), m_other(other), m_keptOne(one.size()), m_keptOther(other.size())
    {
        const std::size_t least = std::min(one.size(), other.size());
        while (m_front < least && one[m_front].hash == other[m_front].hash)
            ++m_front;
        while (m_back < least - m_front && one[one.size() - 1 - m_back].hash == other[other.size() - 1 - m_back].hash)
            ++m_back;
        std::fill_n(m_keptOne.begin(), m_front, true);
        std::fill_n(m_keptOther.begin(), m_front, true);
        std::fill_n(m_keptOne.rbegin(), m_back, true);
        std::fill_n(m_keptOther.rbegin(), m_back, true);
    }

    /// Steps that `fill` takes.
    std::uint64_t cost() const { return (rows() + 1) * (columns() + 1); }

    void fill()
    {
        const std::size_t width = columns() + 1;
        std::vector<std::uint16_t> best((rows() + 1) * width);
        for (std::size_t i = rows(); i-- > 0;)
            for (std::size_t j = columns(); j-- > 0;)
                best[i * width + j] = isSame(i, j) ? static_cast<std::uint16_t>(best[(i + 1) * width + j + 1] + 1)
                                                   : std::max(best[(i + 1) * width + j], best[i * width + j + 1]);
        for (std::size_t i = 0, j = 0; i < rows() && j < columns();) {
            if (isSame(i, j)) {
                m_keptOne[m_front + i++] = true;
                m_keptOther[m_front + j++] = true;
            } else if (best[(i + 1) * width + j] >= best[i * width + j + 1]) {
                ++i;
            } else {
                ++j;
            }
        }
    }

    const std::vector<bool>& keptOne() const { return m_keptOne; }
    const std::vector<bool>& keptOther() const { return m_keptOther; }

private:
    std::size_t rows() const { return m_one.size() - m_front - m_back; }
    std::size_t columns() const { return m_other.size() - m_front - m_back; }
    bool isSame(std::size_t i, std::size_t j) const { return m_one[m_front + i].hash == m_other[m_front + j].hash; }

    std::span<const Token> m_one;
    std::span<const Token> m_other;
    std::vector<bool> m_keptOne;
    std::vector<bool> m_keptOther;
    std::size_t m_front = 0;
    std::size_t m_back = 0;
};

/// Counts code points and UTF-16 units up to byte offsets that only grow.
class Position
{
public:
    explicit Position(std::string_view text) : m_text(text) {}
    void moveTo(std::size_t byte)
    {
        for (; m_byte < byte; ++m_byte) {
            const auto c = static_cast<unsigned char>(m_text[m_byte]);
            if ((c & 0xC0) == 0x80)
                continue;
            ++points;
            units += c >= 0xF0 ? 2 : 1; // beyond the basic plane: a surrogate pair
        }
    }
    std::uint32_t points = 0;
    std::uint32_t units = 0;

private:
    std::string_view m_text;
    std::size_t m_byte = 0;
};

struct ByteRange
{
    std::size_t start;
    std::size_t end;
};

/// Neighbours become one range, and so do those with nothing but blanks between them: that is how people read it.
std::vector<ByteRange> changedBytes(std::span<const Token> tokens, const std::vector<bool>& kept)
{
    std::vector<ByteRange> out;
    bool onlyBlanksSince = false;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        const Token& token = tokens[i];
        if (kept[i]) {
            onlyBlanksSince = onlyBlanksSince && token.isBlank;
            continue;
        }
        if (onlyBlanksSince)
            out.back().end = token.start + token.size;
        else
            out.push_back({token.start, token.start + token.size});
        onlyBlanksSince = true;
    }
    return out;
}

std::vector<TextRange> rangesOf(std::string_view text, std::span<const Token> tokens, const std::vector<bool>& kept)
{
    std::vector<TextRange> out;
    Position at(text);
    for (const ByteRange& bytes : changedBytes(tokens, kept)) {
        at.moveTo(bytes.start);
        const Position before = at;
        at.moveTo(bytes.end);
        out.push_back({before.points, at.points - before.points, before.units, at.units - before.units});
    }
    return out;
}

std::vector<Token> tokensOf(const DiffLine& line, IntralineMarks::Blanks blanks)
{
    if (line.cutBytes > 0)
        return {};
    std::vector<Token> out = diff::tokensOf(line.text);
    if (blanks == IntralineMarks::Blanks::Ignore)
        std::erase_if(out, [](const Token& token) { return token.isBlank; });
    if (out.size() > kMaxTokens)
        out.clear();
    return out;
}

std::vector<std::vector<Token>> tokensOf(std::span<DiffLine> lines, IntralineMarks::Blanks blanks)
{
    std::vector<std::vector<Token>> out;
    out.reserve(lines.size());
    for (const DiffLine& line : lines)
        out.push_back(tokensOf(line, blanks));
    return out;
}

std::size_t runOf(std::span<DiffLine> lines, LineKind kind)
{
    const auto end = std::ranges::find_if(lines, [kind](const DiffLine& line) { return line.kind != kind; });
    return static_cast<std::size_t>(end - lines.begin());
}

} // namespace

void IntralineMarks::mark(std::span<DiffLine> lines)
{
    while (!lines.empty()) {
        const std::size_t removed = runOf(lines, LineKind::Removed);
        const std::size_t added = runOf(lines.subspan(removed), LineKind::Added);
        if (removed > 0 && added > 0)
            markBlock(lines.first(removed), lines.subspan(removed, added));
        lines = lines.subspan(std::max<std::size_t>(removed + added, 1));
    }
}

void IntralineMarks::markBlock(std::span<DiffLine> removed, std::span<DiffLine> added)
{
    const auto removedTokens = tokensOf(removed, m_blanks);
    const auto addedTokens = tokensOf(added, m_blanks);
    for (const auto& [i, j] : pairLines(removedTokens, addedTokens, m_budget))
        markPair(removed[i], added[j], removedTokens[i], addedTokens[j]);
}

void IntralineMarks::markPair(DiffLine& removed, DiffLine& added, std::span<const Token> removedTokens,
                              std::span<const Token> addedTokens)
{
    if (removedTokens.empty() || addedTokens.empty() || likeness(removedTokens, addedTokens) < kLeastLikeness)
        return;
    Common common(removedTokens, addedTokens);
    if (common.cost() > m_budget)
        return;
    m_budget -= common.cost();
    common.fill();
    removed.changed = rangesOf(removed.text, removedTokens, common.keptOne());
    added.changed = rangesOf(added.text, addedTokens, common.keptOther());
}

} // namespace assay::registry::diff
