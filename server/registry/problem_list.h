// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/error.h"

#include <cstddef>
#include <vector>

namespace assay::registry {

/// Findings about one package, bounded: what comes after the first `kMaxProblems` is counted only. Not synchronized.
class ProblemList
{
public:
    static constexpr std::size_t kMaxProblems = 100;

    void add(Problem problem);
    bool isEmpty() const { return m_problems.empty(); }
    /// The findings by path, line and column; the list is empty afterwards.
    std::vector<Problem> take();

private:
    std::vector<Problem> m_problems;
};

/// Line and column of a byte, both from 1; columns count code points.
struct TextPosition
{
    std::uint32_t line = 1;
    std::uint32_t column = 1;
};

/// Where byte `offset` of `text` is. Lines end with LF, as editors count. Linear in `offset`.
TextPosition positionAt(std::string_view text, std::size_t offset);

/// `path` as a problem may show it: unchanged when it is UTF-8 of a sensible length, otherwise escaped and cut.
std::string shownPath(std::string_view path);

/// `text` between double quotes for a message: control, invisible and invalid characters are escaped, and it is cut.
std::string inQuotes(std::string_view text);

/// "12345 bytes", or with a binary unit when that is exact ("10 MiB").
std::string shownSize(std::uint64_t bytes);

/// True for what a reader of plain text cannot see or trust: C0, C1 and DEL, and the zero-width, separator and
/// direction characters that architecture.md refuses in paths.
bool isControlOrInvisible(char32_t c);

/// The part of `isControlOrInvisible` above U+00FF.
bool isInvisible(char32_t c);

/// An `InvalidPackage` with the findings; its message is the first one and how many more there are.
std::unexpected<Error> rejectPackage(std::vector<Problem> problems);

} // namespace assay::registry
