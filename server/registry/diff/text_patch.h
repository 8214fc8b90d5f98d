// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/contract/diff.h"

#include <memory>
#include <span>

struct git_patch;

namespace assay::registry::diff {

/// The changes from one text to another as `git diff` has them (Myers, with its indent heuristic), by libgit2. Counting
/// is cheap; `hunks` copies the lines. The texts outlive it. Calls on different patches may go on at once.
class TextPatch
{
public:
    /// Both are UTF-8 and within the limits of docs/diff.md: memory and time grow with the lines.
    static Result<TextPatch> make(std::string_view from, std::string_view to, const contract::DiffOptions& options);

    std::uint32_t additions() const { return m_additions; }
    std::uint32_t deletions() const { return m_deletions; }
    /// The lines of all hunks, with context.
    std::uint64_t lineCount() const { return m_lineCount; }
    std::vector<contract::DiffHunk> hunks() const;

    /// More than this of a line is left out, and said.
    static constexpr std::size_t kMaxLineBytes = 4096;

private:
    struct Free
    {
        void operator()(git_patch* patch) const;
    };
    explicit TextPatch(git_patch* patch) : m_patch(patch) {}

    std::unique_ptr<git_patch, Free> m_patch;
    std::uint32_t m_additions = 0;
    std::uint32_t m_deletions = 0;
    std::uint64_t m_lineCount = 0;
};

/// How many lines a text has; an unfinished last one counts.
std::uint32_t countLines(std::string_view text);

} // namespace assay::registry::diff
