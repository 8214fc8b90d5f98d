// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/contract/diff.h"
#include "server/registry/diff/line_tokens.h"

#include <span>

namespace assay::registry::diff {

/// Marks what changed within lines, word by word, for one answer. All marks together cost a bounded number of steps;
/// lines after that, lines that are cut, and lines of over 1,000 words stay without. One thread.
class IntralineMarks
{
public:
    enum class Blanks : std::uint8_t { Count, Ignore };
    explicit IntralineMarks(Blanks blanks) : m_blanks(blanks) {}

    /// Fills `changed` of one hunk's removed and added lines.
    void mark(std::span<contract::DiffLine> lines);

private:
    void markBlock(std::span<contract::DiffLine> removed, std::span<contract::DiffLine> added);
    void markPair(contract::DiffLine& removed, contract::DiffLine& added, std::span<const Token> removedTokens,
                  std::span<const Token> addedTokens);

    Blanks m_blanks;
    std::uint64_t m_budget = 40'000'000; // about 0.1 s
};

} // namespace assay::registry::diff
