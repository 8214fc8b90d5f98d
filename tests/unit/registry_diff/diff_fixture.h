// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/registry/diff/package_diff.h"
#include "server/registry/media_type.h"
#include "tests/support/test_support.h"

#include <map>
#include <set>

namespace assay::test {

/// Files as a verified revision has them, over texts that the fixture owns.
class Files
{
public:
    explicit Files(std::map<std::string, std::string> texts, std::set<std::string> executable = {})
        : m_texts(std::move(texts))
    {
        for (const auto& [path, text] : m_texts) {
            const auto kind = registry::fileKindOf(text);
            m_files.push_back({.path = path,
                               .content = text,
                               .sha256 = Digest::ofBytes(text),
                               .mediaType = registry::mediaTypeOf(path, kind),
                               .kind = kind,
                               .executable = executable.contains(path)});
        }
    }
    Files(const Files&) = delete;
    Files& operator=(const Files&) = delete;

    const std::vector<registry::PackageFile>& list() const { return m_files; }

private:
    std::map<std::string, std::string> m_texts;
    std::vector<registry::PackageFile> m_files;
};

inline contract::PackageDiff diffOf(const Files& before, const Files& after, const contract::DiffOptions& options = {},
                                    const registry::diff::DiffLimits& limits = {})
{
    auto diff = registry::diff::diffPackages(before.list(), after.list(), options, limits);
    return diff ? std::move(*diff) : contract::PackageDiff{};
}

/// The only changed file of two texts.
inline contract::FileDiff diffOfTexts(const std::string& before, const std::string& after,
                                      const contract::DiffOptions& options = {})
{
    const Files one({{"a.txt", before}});
    const Files other({{"a.txt", after}});
    auto diff = diffOf(one, other, options);
    return diff.files.empty() ? contract::FileDiff{} : std::move(diff.files.front());
}

/// As `git diff` prints it, from the first hunk on.
inline std::string unified(const contract::FileDiff& file)
{
    const auto count = [](std::uint32_t start, std::uint32_t lines) {
        return std::to_string(start) + (lines == 1 ? "" : "," + std::to_string(lines));
    };
    std::string out;
    for (const contract::DiffHunk& hunk : file.hunks) {
        out += "@@ -" + count(hunk.oldStart, hunk.oldLines) + " +" + count(hunk.newStart, hunk.newLines) + " @@" +
               (hunk.section.empty() ? "" : " " + hunk.section) + "\n";
        for (const contract::DiffLine& line : hunk.lines) {
            out += line.kind == contract::LineKind::Added ? '+' : line.kind == contract::LineKind::Removed ? '-' : ' ';
            out += line.text + (line.end == contract::LineEnd::Crlf ? "\r\n" : "\n");
            if (line.end == contract::LineEnd::None)
                out += "\\ No newline at end of file\n";
        }
    }
    return out;
}

} // namespace assay::test
