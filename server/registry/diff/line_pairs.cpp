// SPDX-License-Identifier: Apache-2.0
#include "server/registry/diff/line_pairs.h"

#include <algorithm>

namespace assay::registry::diff {

namespace {

using Pairs = std::vector<std::pair<std::size_t, std::size_t>>;
using Bag = std::vector<std::pair<std::uint64_t, std::uint32_t>>;

// Lines that share less than this are no two versions of one line.
constexpr unsigned kLeastLikeness = 35;

Bag bagOf(std::span<const Token> tokens)
{
    Bag out;
    out.reserve(tokens.size());
    for (const Token& token : tokens)
        if (!token.isBlank)
            out.emplace_back(token.hash, token.size);
    std::ranges::sort(out);
    return out;
}

std::uint64_t weightOf(const Bag& bag)
{
    std::uint64_t out = 0;
    for (const auto& [hash, size] : bag)
        out += size;
    return out;
}

unsigned bagLikeness(const Bag& one, const Bag& other)
{
    std::uint64_t common = 0;
    for (std::size_t i = 0, j = 0; i < one.size() && j < other.size();) {
        if (one[i] == other[j]) {
            common += one[i].second;
            ++i;
            ++j;
        } else if (one[i] < other[j]) {
            ++i;
        } else {
            ++j;
        }
    }
    const std::uint64_t longer = std::max(weightOf(one), weightOf(other));
    return longer == 0 ? 0 : static_cast<unsigned>(common * 100 / longer);
}

std::vector<Bag> bagsOf(std::span<const std::vector<Token>> lines)
{
    std::vector<Bag> out;
    out.reserve(lines.size());
    for (const auto& tokens : lines)
        out.push_back(bagOf(tokens));
    return out;
}

std::uint64_t tokenCount(std::span<const std::vector<Token>> lines)
{
    std::uint64_t out = 0;
    for (const auto& tokens : lines)
        out += tokens.size() + 1;
    return out;
}

Pairs inOrder(std::size_t count)
{
    Pairs out;
    for (std::size_t i = 0; i < count; ++i)
        out.emplace_back(i, i);
    return out;
}

/// The best sum of likenesses of the lines from (i, j) on, for every i and j: the classic alignment, read forwards.
class Alignment
{
public:
    Alignment(std::span<const std::vector<Token>> removed, std::span<const std::vector<Token>> added)
        : m_rows(removed.size()),
          m_columns(added.size()),
          m_like(m_rows * m_columns),
          m_best((m_rows + 1) * (m_columns + 1))
    {
        const auto old = bagsOf(removed);
        const auto fresh = bagsOf(added);
        for (std::size_t i = m_rows; i-- > 0;)
            for (std::size_t j = m_columns; j-- > 0;) {
                const unsigned like = bagLikeness(old[i], fresh[j]);
                m_like[i * m_columns + j] = like < kLeastLikeness ? 0 : like;
                best(i, j) = std::max({best(i + 1, j), best(i, j + 1), best(i + 1, j + 1) + m_like[i * m_columns + j]});
            }
    }

    Pairs pairs()
    {
        Pairs out;
        for (std::size_t i = 0, j = 0; i < m_rows && j < m_columns;) {
            const unsigned like = m_like[i * m_columns + j];
            if (like > 0 && best(i, j) == best(i + 1, j + 1) + like)
                out.emplace_back(i++, j++);
            else if (best(i, j) == best(i + 1, j))
                ++i;
            else
                ++j;
        }
        return out;
    }

private:
    unsigned& best(std::size_t i, std::size_t j) { return m_best[i * (m_columns + 1) + j]; }

    std::size_t m_rows;
    std::size_t m_columns;
    std::vector<unsigned> m_like;
    std::vector<unsigned> m_best;
};

} // namespace

unsigned likeness(std::span<const Token> one, std::span<const Token> other)
{
    return bagLikeness(bagOf(one), bagOf(other));
}

Pairs pairLines(std::span<const std::vector<Token>> removed, std::span<const std::vector<Token>> added,
                std::uint64_t& budget)
{
    const std::size_t least = std::min(removed.size(), added.size());
    if (removed.size() == added.size() || removed.size() * added.size() > kMaxAligned)
        return inOrder(least);
    const std::uint64_t cost = tokenCount(removed) * added.size() + tokenCount(added) * removed.size();
    if (cost > budget)
        return inOrder(least);
    budget -= cost;
    return Alignment(removed, added).pairs();
}

} // namespace assay::registry::diff
