// SPDX-License-Identifier: Apache-2.0
#include "server/contract/codec.h"
#include "server/contract/json_parts.h"

namespace assay::contract {

namespace {

std::string_view kindName(LineKind kind)
{
    switch (kind) {
    case LineKind::Added:
        return "added";
    case LineKind::Removed:
        return "removed";
    case LineKind::Context:
        break;
    }
    return "context";
}

std::string_view endName(LineEnd end)
{
    switch (end) {
    case LineEnd::Crlf:
        return "crlf";
    case LineEnd::None:
        return "none";
    case LineEnd::Lf:
        break;
    }
    return "lf";
}

json::value lineOrNull(std::uint32_t number) { return number == 0 ? json::value() : json::value(number); }

json::object rangeJson(const TextRange& range)
{
    return {{"start", range.start},
            {"length", range.length},
            {"start_utf16", range.startUtf16},
            {"length_utf16", range.lengthUtf16}};
}

json::object lineJson(const DiffLine& line)
{
    json::object out;
    out.reserve(7);
    out["kind"] = kindName(line.kind);
    out["old"] = lineOrNull(line.oldLine);
    out["new"] = lineOrNull(line.newLine);
    out["text"] = line.text;
    out["eol"] = endName(line.end);
    if (line.cutBytes > 0)
        out["cut_bytes"] = line.cutBytes;
    if (line.changed.empty())
        return out;
    json::array ranges;
    ranges.reserve(line.changed.size());
    for (const TextRange& range : line.changed)
        ranges.push_back(rangeJson(range));
    out["intraline"] = std::move(ranges);
    return out;
}

json::object hunkJson(const DiffHunk& hunk)
{
    json::array lines;
    lines.reserve(hunk.lines.size());
    for (const DiffLine& line : hunk.lines)
        lines.push_back(lineJson(line));
    return {{"old_start", hunk.oldStart}, {"old_lines", hunk.oldLines}, {"new_start", hunk.newStart},
            {"new_lines", hunk.newLines}, {"section", hunk.section},    {"lines", std::move(lines)}};
}

json::value sideJson(const std::optional<DiffSide>& side)
{
    if (!side)
        return {};
    return json::object{{"sha256", side->sha256}, {"size_bytes", side->sizeBytes}, {"executable", side->executable},
                        {"kind", side->kind},     {"media_type", side->mediaType}, {"lines", valueOrNull(side->lines)}};
}

json::object fileJson(const FileDiff& file)
{
    json::array hunks;
    hunks.reserve(file.hunks.size());
    for (const DiffHunk& hunk : file.hunks)
        hunks.push_back(hunkJson(hunk));
    return {{"status", file.status},
            {"path", file.path},
            {"old_path", textOrNull(file.oldPath)},
            {"similarity", valueOrNull(file.similarity)},
            {"old", sideJson(file.oldSide)},
            {"new", sideJson(file.newSide)},
            {"content", file.content},
            {"whitespace_only", file.whitespaceOnly},
            {"additions", valueOrNull(file.additions)},
            {"deletions", valueOrNull(file.deletions)},
            {"hunks", std::move(hunks)}};
}

json::object countsJson(const DiffCounts& counts)
{
    return {{"files", counts.files},         {"added", counts.added},         {"removed", counts.removed},
            {"modified", counts.modified},   {"mode_only", counts.modeOnly},  {"renamed", counts.renamed},
            {"additions", counts.additions}, {"deletions", counts.deletions}, {"complete", counts.complete}};
}

json::object sideOf(const Revision& revision)
{
    return {{"revision", revision.id},
            {"number", revision.number},
            {"digest", revision.digest},
            {"file_count", revision.fileCount},
            {"size_bytes", revision.sizeBytes}};
}

} // namespace

json::object toJson(const SkillDiff& diff)
{
    json::array files;
    files.reserve(diff.package.files.size());
    for (const FileDiff& file : diff.package.files)
        files.push_back(fileJson(file));
    return {{"skill", diff.skill},
            {"from", diff.from ? json::value(sideOf(*diff.from)) : json::value()},
            {"to", sideOf(diff.to)},
            {"context", diff.options.context},
            {"ignore_whitespace", diff.options.ignoreWhitespace},
            {"path", textOrNull(diff.options.path)},
            {"counts", countsJson(diff.package.counts)},
            {"files", std::move(files)},
            {"capabilities", toJson(diff.capabilities)}};
}

} // namespace assay::contract
