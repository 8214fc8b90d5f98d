// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/contract/capability.h"
#include "server/contract/skill.h"

namespace assay::contract {

/// What a comparison is asked for (docs/diff.md).
struct DiffOptions
{
    std::uint32_t context = 3; ///< unchanged lines around a change, 0..kMaxContext
    bool ignoreWhitespace = false;
    std::string path; ///< only the file that has this path on either side; empty for all

    static constexpr std::uint32_t kMaxContext = 10'000;
};

/// A part of a line's text, in Unicode code points and in UTF-16 units.
struct TextRange
{
    std::uint32_t start = 0;
    std::uint32_t length = 0;
    std::uint32_t startUtf16 = 0;
    std::uint32_t lengthUtf16 = 0;

    bool operator==(const TextRange&) const = default;
};

enum class LineKind : std::uint8_t { Context, Added, Removed };
/// `None`: the file ends here without a line break.
enum class LineEnd : std::uint8_t { Lf, Crlf, None };

struct DiffLine
{
    LineKind kind = LineKind::Context;
    std::uint32_t oldLine = 0; ///< from 1; 0 on the side that does not have the line
    std::uint32_t newLine = 0;
    std::string text; ///< without its line break
    LineEnd end = LineEnd::Lf;
    std::uint64_t cutBytes = 0; ///< how much of a very long line's end `text` leaves out
    /// What differs from the line's counterpart; empty when it has none or all of it differs.
    std::vector<TextRange> changed;
};

struct DiffHunk
{
    std::uint32_t oldStart = 0; ///< as in `git diff`: 0 when that side has no line
    std::uint32_t oldLines = 0;
    std::uint32_t newStart = 0;
    std::uint32_t newLines = 0;
    std::string section; ///< the nearest line above that looks like a heading or a function; may be empty
    std::vector<DiffLine> lines;
};

/// One side of a changed file.
struct DiffSide
{
    std::string sha256;
    std::uint64_t sizeBytes = 0;
    bool executable = false;
    std::string kind; ///< "text" or "asset"
    std::string mediaType;
    std::optional<std::uint32_t> lines; ///< text only
};

struct FileDiff
{
    std::string status;                      ///< "added", "removed", "modified", "mode_only" or "renamed"
    std::string path;                        ///< of a removed file: its old one
    std::string oldPath;                     ///< "renamed" only
    std::optional<std::uint32_t> similarity; ///< "renamed" only, percent
    std::optional<DiffSide> oldSide;
    std::optional<DiffSide> newSide;
    /// "text": hunks follow; "same": the bytes are equal; "binary"; "too_large" for this file; "omitted": the answer is
    /// full, ask for this path alone.
    std::string content;
    bool whitespaceOnly = false;            ///< nothing is left when whitespace is ignored
    std::optional<std::uint32_t> additions; ///< lines; empty when they were not counted
    std::optional<std::uint32_t> deletions;
    std::vector<DiffHunk> hunks;
};

struct DiffCounts
{
    std::uint32_t files = 0;
    std::uint32_t added = 0;
    std::uint32_t removed = 0;
    std::uint32_t modified = 0;
    std::uint32_t modeOnly = 0;
    std::uint32_t renamed = 0;
    std::uint64_t additions = 0;
    std::uint64_t deletions = 0;
    bool complete = true; ///< false when some file's lines were not counted
};

struct PackageDiff
{
    std::vector<FileDiff> files; ///< in the order of their paths
    DiffCounts counts;
};

/// Answer of `GET /v1/skills/{name}/diff`.
struct SkillDiff
{
    std::string skill;
    std::optional<Revision> from; ///< empty: compared with nothing
    Revision to;
    DiffOptions options;
    PackageDiff package;
    CapabilityDiff capabilities;
};

} // namespace assay::contract
