// SPDX-License-Identifier: Apache-2.0
#include "server/registry/diff/package_diff.h"

#include "server/registry/diff/file_pairs.h"
#include "server/registry/diff/intraline.h"
#include "server/registry/diff/text_patch.h"

#include <algorithm>

namespace assay::registry::diff {

namespace {

using contract::DiffSide;
using contract::FileDiff;

std::optional<DiffSide> sideOf(const PackageFile* file)
{
    if (file == nullptr)
        return std::nullopt;
    DiffSide out{.sha256 = file->sha256.text(),
                 .sizeBytes = file->content.size(),
                 .executable = file->executable,
                 .kind = file->kind == FileKind::Text ? "text" : "asset",
                 .mediaType = file->mediaType,
                 .lines = {}};
    if (file->kind == FileKind::Text)
        out.lines = countLines(file->content);
    return out;
}

std::string statusOf(const FilePair& pair)
{
    if (pair.before == nullptr)
        return "added";
    if (pair.after == nullptr)
        return "removed";
    if (pair.isRenamed())
        return "renamed";
    return pair.before->sha256 == pair.after->sha256 ? "mode_only" : "modified";
}

bool isBinary(const PackageFile* file) { return file != nullptr && file->kind != FileKind::Text; }
std::string_view contentOf(const PackageFile* file) { return file != nullptr ? file->content : std::string_view(); }

class Comparison
{
public:
    Comparison(const contract::DiffOptions& options, const DiffLimits& limits)
        : m_options(options),
          m_limits(limits),
          m_marks(options.ignoreWhitespace ? IntralineMarks::Blanks::Ignore : IntralineMarks::Blanks::Count)
    {}

    Result<void> add(const FilePair& pair)
    {
        FileDiff file{.status = statusOf(pair), .path = pair.path()};
        file.oldSide = sideOf(pair.before);
        file.newSide = sideOf(pair.after);
        if (pair.isRenamed()) {
            file.oldPath = pair.before->path;
            file.similarity = pair.similarity;
        }
        auto compared = compare(pair, file);
        if (compared) {
            count(file);
            m_out.files.push_back(std::move(file));
        }
        return compared;
    }

    contract::PackageDiff take() { return std::move(m_out); }

private:
    Result<void> compare(const FilePair& pair, FileDiff& file)
    {
        if (pair.before != nullptr && pair.after != nullptr && pair.before->sha256 == pair.after->sha256) {
            file.content = "same";
            setCounts(file, 0, 0);
            return {};
        }
        if (isBinary(pair.before) || isBinary(pair.after)) {
            file.content = "binary";
            setCounts(file, 0, 0);
            return {};
        }
        if (isTooLarge(file.oldSide) || isTooLarge(file.newSide)) {
            file.content = "too_large";
            countOneSided(file);
            return {};
        }
        return compareTexts(contentOf(pair.before), contentOf(pair.after), file);
    }

    Result<void> compareTexts(std::string_view before, std::string_view after, FileDiff& file)
    {
        file.content = "omitted";
        countOneSided(file);
        m_comparedBytes += before.size() + after.size();
        if (m_comparedBytes > m_limits.totalBytes)
            return {};
        auto patch = TextPatch::make(before, after, m_options);
        if (!patch)
            return forward(patch);
        setCounts(file, patch->additions(), patch->deletions());
        file.whitespaceOnly =
            m_options.ignoreWhitespace && patch->lineCount() == 0 && !before.empty() && !after.empty();
        if (m_shownLines + patch->lineCount() > m_limits.shownLines || m_shownBytes > m_limits.shownBytes)
            return {};
        m_shownLines += patch->lineCount();
        file.content = "text";
        file.hunks = patch->hunks();
        for (contract::DiffHunk& hunk : file.hunks) {
            m_marks.mark(hunk.lines);
            for (const contract::DiffLine& line : hunk.lines)
                m_shownBytes += line.text.size();
        }
        return {};
    }

    bool isTooLarge(const std::optional<DiffSide>& side) const
    {
        return side && (side->sizeBytes > m_limits.fileBytes || side->lines.value_or(0) > m_limits.fileLines);
    }

    static void setCounts(FileDiff& file, std::uint32_t additions, std::uint32_t deletions)
    {
        file.additions = additions;
        file.deletions = deletions;
    }

    /// What is added or removed whole is counted without comparing.
    static void countOneSided(FileDiff& file)
    {
        if (!file.oldSide)
            setCounts(file, file.newSide->lines.value_or(0), 0);
        if (!file.newSide)
            setCounts(file, 0, file.oldSide->lines.value_or(0));
    }

    void count(const FileDiff& file)
    {
        contract::DiffCounts& counts = m_out.counts;
        ++counts.files;
        counts.added += file.status == "added" ? 1 : 0;
        counts.removed += file.status == "removed" ? 1 : 0;
        counts.modified += file.status == "modified" ? 1 : 0;
        counts.modeOnly += file.status == "mode_only" ? 1 : 0;
        counts.renamed += file.status == "renamed" ? 1 : 0;
        counts.additions += file.additions.value_or(0);
        counts.deletions += file.deletions.value_or(0);
        counts.complete = counts.complete && file.additions.has_value();
    }

    const contract::DiffOptions& m_options;
    const DiffLimits& m_limits;
    IntralineMarks m_marks;
    contract::PackageDiff m_out;
    std::uint64_t m_comparedBytes = 0;
    std::uint64_t m_shownLines = 0;
    std::uint64_t m_shownBytes = 0;
};

bool isWanted(const FilePair& pair, const std::string& path)
{
    return path.empty() || pair.path() == path || (pair.before != nullptr && pair.before->path == path);
}

} // namespace

Result<contract::PackageDiff> diffPackages(std::span<const PackageFile> before, std::span<const PackageFile> after,
                                           const contract::DiffOptions& options, const DiffLimits& limits)
{
    Comparison comparison(options, limits);
    for (const FilePair& pair : pairFiles(before, after)) {
        if (!isWanted(pair, options.path))
            continue;
        if (auto added = comparison.add(pair); !added)
            return forward(added);
    }
    return comparison.take();
}

} // namespace assay::registry::diff
