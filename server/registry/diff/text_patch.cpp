// SPDX-License-Identifier: Apache-2.0
#include "server/registry/diff/text_patch.h"

#include "server/core/text.h"

#include <algorithm>
#include <git2.h>

namespace assay::registry::diff {

namespace {

using contract::DiffHunk;
using contract::DiffLine;
using contract::LineEnd;
using contract::LineKind;

/// libgit2 counts its users; ours is the program itself, from the first comparison to the end.
void startLibrary()
{
    static const int started = ::git_libgit2_init();
    static_cast<void>(started);
}

git_diff_options optionsFor(const contract::DiffOptions& options)
{
    git_diff_options out = GIT_DIFF_OPTIONS_INIT;
    out.context_lines = std::min(options.context, contract::DiffOptions::kMaxContext);
    out.interhunk_lines = 0;
    out.flags = GIT_DIFF_FORCE_TEXT | GIT_DIFF_INDENT_HEURISTIC;
    if (options.ignoreWhitespace)
        out.flags |= GIT_DIFF_IGNORE_WHITESPACE;
    return out;
}

std::string_view cutToCharacter(std::string_view text, std::size_t maxBytes)
{
    std::size_t size = std::min(text.size(), maxBytes);
    while (size > 0 && size < text.size() && (static_cast<unsigned char>(text[size]) & 0xC0) == 0x80)
        --size;
    return text.substr(0, size);
}

/// libgit2 cuts headings at a number of bytes, which may be inside a character.
std::string wholeCharacters(std::string_view text)
{
    return std::string(text.substr(0, firstInvalidUtf8(text).value_or(text.size())));
}

std::string sectionOf(const git_diff_hunk& hunk)
{
    std::string_view header(hunk.header, hunk.header_len);
    const auto end = header.find("@@", 2);
    if (end == std::string_view::npos)
        return {};
    header.remove_prefix(end + 2);
    while (!header.empty() && (header.front() == ' '))
        header.remove_prefix(1);
    while (!header.empty() && (header.back() == '\n' || header.back() == '\r' || header.back() == ' '))
        header.remove_suffix(1);
    return wholeCharacters(header);
}

void takeText(DiffLine& out, std::string_view content)
{
    out.end = LineEnd::None;
    if (content.ends_with('\n')) {
        content.remove_suffix(1);
        out.end = content.ends_with('\r') ? LineEnd::Crlf : LineEnd::Lf;
        if (out.end == LineEnd::Crlf)
            content.remove_suffix(1);
    }
    const std::string_view shown = cutToCharacter(content, TextPatch::kMaxLineBytes);
    out.text = shown;
    out.cutBytes = content.size() - shown.size();
}

/// False for the remarks about a missing line break: the line itself tells.
bool readLine(const git_diff_line& line, DiffLine& out)
{
    switch (line.origin) {
    case GIT_DIFF_LINE_CONTEXT:
        out.kind = LineKind::Context;
        break;
    case GIT_DIFF_LINE_ADDITION:
        out.kind = LineKind::Added;
        break;
    case GIT_DIFF_LINE_DELETION:
        out.kind = LineKind::Removed;
        break;
    default:
        return false;
    }
    out.oldLine = static_cast<std::uint32_t>(std::max(line.old_lineno, 0));
    out.newLine = static_cast<std::uint32_t>(std::max(line.new_lineno, 0));
    takeText(out, {line.content, line.content_len});
    return true;
}

DiffHunk readHunk(git_patch* patch, std::size_t index)
{
    const git_diff_hunk* hunk = nullptr;
    std::size_t lines = 0;
    if (::git_patch_get_hunk(&hunk, &lines, patch, index) != 0 || hunk == nullptr)
        return {};
    DiffHunk out{.oldStart = static_cast<std::uint32_t>(hunk->old_start),
                 .oldLines = static_cast<std::uint32_t>(hunk->old_lines),
                 .newStart = static_cast<std::uint32_t>(hunk->new_start),
                 .newLines = static_cast<std::uint32_t>(hunk->new_lines),
                 .section = sectionOf(*hunk),
                 .lines = {}};
    out.lines.reserve(lines);
    for (std::size_t i = 0; i < lines; ++i) {
        const git_diff_line* line = nullptr;
        DiffLine read;
        if (::git_patch_get_line_in_hunk(&line, patch, index, i) == 0 && readLine(*line, read))
            out.lines.push_back(std::move(read));
    }
    return out;
}

} // namespace

void TextPatch::Free::operator()(git_patch* patch) const { ::git_patch_free(patch); }

Result<TextPatch> TextPatch::make(std::string_view from, std::string_view to, const contract::DiffOptions& options)
{
    startLibrary();
    const git_diff_options wanted = optionsFor(options);
    git_patch* raw = nullptr;
    if (::git_patch_from_buffers(&raw, from.data(), from.size(), nullptr, to.data(), to.size(), nullptr, &wanted) !=
        0) {
        const git_error* why = ::git_error_last();
        return fail(ErrorCode::Internal, "the two versions of a file could not be compared",
                    why != nullptr && why->message != nullptr ? why->message : "libgit2");
    }
    TextPatch out(raw);
    std::size_t context = 0;
    std::size_t additions = 0;
    std::size_t deletions = 0;
    ::git_patch_line_stats(&context, &additions, &deletions, raw);
    out.m_additions = static_cast<std::uint32_t>(additions);
    out.m_deletions = static_cast<std::uint32_t>(deletions);
    out.m_lineCount = context + additions + deletions;
    return out;
}

std::vector<DiffHunk> TextPatch::hunks() const
{
    std::vector<DiffHunk> out;
    const std::size_t count = ::git_patch_num_hunks(m_patch.get());
    out.reserve(count);
    for (std::size_t i = 0; i < count; ++i)
        out.push_back(readHunk(m_patch.get(), i));
    return out;
}

std::uint32_t countLines(std::string_view text)
{
    const auto breaks = std::ranges::count(text, '\n');
    return static_cast<std::uint32_t>(breaks) + (text.empty() || text.ends_with('\n') ? 0U : 1U);
}

} // namespace assay::registry::diff
