// SPDX-License-Identifier: Apache-2.0
#include "server/registry/package.h"

#include "server/core/text.h"
#include "server/registry/canonical_form.h"
#include "server/registry/content_lints.h"
#include "server/registry/frontmatter.h"
#include "server/registry/limit_problems.h"
#include "server/registry/media_type.h"
#include "server/registry/name_slug.h"
#include "server/registry/path_rules.h"
#include "server/registry/path_set.h"
#include "server/registry/schema_files.h"

#include <algorithm>
#include <numeric>

namespace assay::registry {

namespace {

/// Validates one package; one object a package.
class Validator
{
public:
    Validator(PackageSource source, std::string_view registryName, const PackageLimits& limits)
        : m_source(std::move(source)), m_name(registryName), m_limits(limits)
    {}
    Result<ValidPackage> run();

private:
    void judgeName();
    void judgePaths();
    void judgeTotals();
    void judgeContent(PackageFile& file);
    void judgeSkillMd();
    void judgeFrontmatter(std::string_view text, const SkillMdParts& parts);
    void lintFolder();
    ValidPackage assemble();

    PackageSource m_source;
    std::string m_name;
    const PackageLimits& m_limits;
    ProblemList m_errors;
    ProblemList m_lints;
    std::vector<PackageFile> m_files; ///< with safe paths, sorted once all are judged
    std::uint64_t m_bytes = 0;
    Frontmatter m_frontmatter;
};

void Validator::judgeName()
{
    if (m_name.empty() || isRegistryName(m_name))
        return;
    m_errors.add({.code = "invalid_name",
                  .message = "the registry name " + inQuotes(m_name) + " must be 1 to " +
                             std::to_string(kMaxNameBytes) +
                             " of a-z, 0-9 and single hyphens, without a hyphen at an edge"});
}

void Validator::judgePaths()
{
    PathSet set;
    m_files.reserve(m_source.files().size());
    for (const SourceFile& source : m_source.files()) {
        JudgedPath judged = judgePath(source.path);
        if (!judged.code.empty()) {
            m_errors.add({.code = judged.code, .message = judged.message, .path = shownPath(source.path)});
            continue;
        }
        set.addFile(judged.path, m_errors);
        m_files.push_back({.path = std::move(judged.path), .content = source.content, .executable = source.executable});
    }
    set.checkFolders(m_errors);
    std::ranges::sort(m_files, {}, &PackageFile::path);
}

void Validator::judgeTotals()
{
    const auto& files = m_source.files();
    m_bytes = std::accumulate(files.begin(), files.end(), std::uint64_t{0},
                              [](std::uint64_t sum, const SourceFile& file) { return sum + file.content.size(); });
    if (files.size() > m_limits.files)
        m_errors.add(tooManyFiles(files.size(), m_limits));
    if (m_bytes > m_limits.packageBytes)
        m_errors.add(packageTooLarge(m_bytes, m_limits));
    lintTotals(files.size(), m_bytes, m_lints);
}

void Validator::judgeContent(PackageFile& file)
{
    if (file.content.size() > m_limits.fileBytes) {
        m_errors.add(fileTooLarge(file.path, file.content.size(), m_limits));
        return;
    }
    file.kind = fileKindOf(file.content);
    file.mediaType = mediaTypeOf(file.path, file.kind);
    lintFile(file, m_lints);
    if (file.kind == FileKind::Text || !mustBeText(file.path))
        return;
    if (const auto invalid = firstInvalidUtf8(file.content)) {
        const TextPosition at = positionAt(file.content, *invalid);
        m_errors.add({.code = "invalid_utf8",
                      .message = "a file of this kind must be UTF-8; byte " + std::to_string(*invalid) +
                                 " is not: save it as UTF-8",
                      .path = file.path,
                      .line = at.line,
                      .column = at.column});
    }
}

void Validator::judgeSkillMd()
{
    const auto skillMd = std::ranges::find(m_files, kSkillMd, &PackageFile::path);
    if (skillMd == m_files.end()) {
        const auto near =
            std::ranges::find_if(m_files, [](const PackageFile& file) { return toLower(file.path) == "skill.md"; });
        m_errors.add({.code = "missing_skill_md",
                      .message = near == m_files.end() ? "the package has no SKILL.md at its root; add one"
                                                       : "the package has " + inQuotes(near->path) +
                                                             " but no SKILL.md; rename it, upper case counts",
                      .path = std::string(kSkillMd)});
        return;
    }
    if (skillMd->content.size() > m_limits.fileBytes || !isUtf8(skillMd->content))
        return; // reported as such
    const auto parts = splitSkillMd(skillMd->content);
    if (!parts) {
        m_errors.add(parts.error());
        return;
    }
    lintBody(skillMd->content, *parts, m_lints);
    judgeFrontmatter(skillMd->content, *parts);
    lintSchemas(m_files, m_frontmatter, m_lints);
}

void Validator::judgeFrontmatter(std::string_view text, const SkillMdParts& parts)
{
    auto frontmatter = readFrontmatter(text, parts, m_errors, m_lints);
    if (!frontmatter)
        return;
    m_frontmatter = std::move(*frontmatter);
    if (m_name.empty())
        m_name = m_frontmatter.slug;
    if (m_frontmatter.slug == m_name)
        return;
    const TextPosition at = positionAt(text, m_frontmatter.nameOffset);
    m_errors.add({.code = "name_mismatch",
                  .message = "the frontmatter's name " + inQuotes(m_frontmatter.name) + " stands for " +
                             m_frontmatter.slug + ", but the skill is published as " + inQuotes(m_name) +
                             "; make them one",
                  .path = std::string(kSkillMd),
                  .line = at.line,
                  .column = at.column});
}

void Validator::lintFolder()
{
    if (m_source.topFolder.empty() || m_source.topFolder == m_name)
        return;
    m_lints.add({.code = "top_folder_name",
                 .message = "the skill's folder is " + inQuotes(m_source.topFolder) + " but its name is " +
                            inQuotes(m_name) + "; clients that load folders want them equal",
                 .client = "vscode"});
}

ValidPackage Validator::assemble()
{
    ValidPackage out;
    out.files = std::move(m_files);
    out.prefixes = std::make_shared<const std::string>(canonicalPrefixes(out.files));
    out.sizeBytes = m_bytes;
    out.name = std::move(m_name);
    out.description = std::move(m_frontmatter.description);
    out.network = std::move(m_frontmatter.network);
    out.allowedTools = std::move(m_frontmatter.allowedTools);
    out.inputSchema = std::move(m_frontmatter.inputSchema);
    out.outputSchema = std::move(m_frontmatter.outputSchema);
    out.requiresExecution =
        m_frontmatter.requiresExecution || std::ranges::any_of(out.files, [](const PackageFile& file) {
            return needsExecution(file.path, file.executable);
        });
    out.lints = m_lints.take();
    out.ignored = std::move(m_source.ignored);
    for (PackageFile& file : out.files)
        file.sha256 = Digest::ofBytes(file.content);
    Sha256 stream;
    for (const std::string_view piece : out.canonicalPieces())
        stream.update(piece);
    out.digest = stream.finish();
    out.storage = m_source.storage();
    return out;
}

Result<ValidPackage> Validator::run()
{
    judgeName();
    judgePaths();
    judgeTotals();
    for (PackageFile& file : m_files)
        judgeContent(file);
    judgeSkillMd();
    lintFolder();
    if (!m_errors.isEmpty())
        return rejectPackage(m_errors.take());
    return assemble();
}

} // namespace

Result<ValidPackage> validatePackage(PackageSource source, std::string_view registryName, const PackageLimits& limits)
{
    return Validator(std::move(source), registryName, limits).run();
}

} // namespace assay::registry
