// SPDX-License-Identifier: Apache-2.0
#include "server/registry/content_lints.h"

#include "server/core/text.h"
#include "server/registry/media_type.h"
#include "server/registry/path_rules.h"

#include <algorithm>

namespace assay::registry {

namespace {

constexpr std::size_t kMaxSkillMdLines = 500;
constexpr std::size_t kManyFiles = 512;
constexpr std::uint64_t kLargePackage = 16ULL << 20;

Problem lintAt(const PackageFile& file, std::string code, std::uint32_t line, std::string message, std::string client)
{
    return {.code = std::move(code),
            .message = std::move(message),
            .path = file.path,
            .line = line,
            .client = std::move(client)};
}

void lintByteOrderMark(const PackageFile& file, ProblemList& lints)
{
    if (file.kind == FileKind::Text && file.content.starts_with(kByteOrderMark))
        lints.add(lintAt(file, "bom", 1,
                         "the file starts with a byte order mark, which many readers stumble over; save it without",
                         "all"));
}

void lintScript(const PackageFile& file, ProblemList& lints)
{
    const bool hasShebang = file.content.starts_with("#!");
    if (hasShebang && !file.executable)
        lints.add(lintAt(file, "shebang_not_executable", 1,
                         "the script names its interpreter but is not executable; set the executable bit", "all"));
    if (!hasShebang && !isScript(file.path))
        return;
    if (const std::size_t at = file.content.find("\r\n"); at != std::string_view::npos)
        lints.add(lintAt(file, "crlf_script", positionAt(file.content, at).line,
                         "the script has lines that end with CR LF, which shells refuse; save it with LF", "all"));
}

/// Bytes that look like text in another encoding: UTF-16 with its mark, or no control character that text has not.
bool looksLikeText(std::string_view content)
{
    if (content.starts_with("\xFF\xFE") || content.starts_with("\xFE\xFF"))
        return true;
    constexpr std::size_t sample = 8192;
    return std::ranges::all_of(content.substr(0, sample), [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return byte >= 0x20 || (byte >= '\t' && byte <= '\r');
    });
}

void lintEncoding(const PackageFile& file, ProblemList& lints)
{
    if (file.kind == FileKind::Text || mustBeText(file.path))
        return;
    const auto invalid = firstInvalidUtf8(file.content);
    if (invalid && looksLikeText(file.content))
        lints.add(lintAt(file, "not_utf8", positionAt(file.content, *invalid).line,
                         "the file looks like text in another encoding; save it as UTF-8", "all"));
}

Problem bodyLint(std::string_view skillMd, std::size_t offset, std::string code, std::string message,
                 std::string client)
{
    const TextPosition at = positionAt(skillMd, offset);
    return {.code = std::move(code),
            .message = std::move(message),
            .path = std::string(kSkillMd),
            .line = at.line,
            .column = at.column,
            .client = std::move(client)};
}

void lintInvisible(std::string_view skillMd, const SkillMdParts& parts, ProblemList& lints)
{
    std::string_view rest = parts.body;
    while (!rest.empty()) {
        const std::size_t offset = skillMd.size() - rest.size();
        if (!isInvisible(takeCodePoint(rest)))
            continue;
        lints.add(bodyLint(skillMd, offset, "invisible_characters",
                           "the text has a zero-width or direction character, which a reader does not see; remove it",
                           "all"));
        return;
    }
}

} // namespace

void lintFile(const PackageFile& file, ProblemList& lints)
{
    if (auto found = lintWindowsPath(file.path))
        lints.add(std::move(*found));
    lintByteOrderMark(file, lints);
    lintScript(file, lints);
    lintEncoding(file, lints);
}

void lintBody(std::string_view skillMd, const SkillMdParts& parts, ProblemList& lints)
{
    const auto breaks = static_cast<std::size_t>(std::ranges::count(skillMd, '\n'));
    const std::size_t lines = breaks + (skillMd.ends_with('\n') ? 0 : 1);
    if (lines > kMaxSkillMdLines)
        lints.add({.code = "skill_md_too_long",
                   .message = "SKILL.md has " + std::to_string(lines) + " lines; above " +
                              std::to_string(kMaxSkillMdLines) +
                              " it costs attention in every session: move detail into references",
                   .path = std::string(kSkillMd),
                   .client = "claude-code"});
    if (const std::size_t at = parts.body.find("<!--"); at != std::string_view::npos)
        lints.add(bodyLint(skillMd, parts.bodyOffset + at, "html_comment",
                           "an HTML comment is hidden from people but read by agents; write it as text or remove it",
                           "all"));
    lintInvisible(skillMd, parts, lints);
}

void lintTotals(std::size_t files, std::uint64_t bytes, ProblemList& lints)
{
    if (files > kManyFiles)
        lints.add({.code = "many_files",
                   .message = "the package has " + std::to_string(files) + " files; some clients load at most " +
                              std::to_string(kManyFiles),
                   .client = "all"});
    if (bytes > kLargePackage)
        lints.add({.code = "large_package",
                   .message = "the package has " + std::to_string(bytes) + " bytes; some clients load at most " +
                              shownSize(kLargePackage),
                   .client = "all"});
}

} // namespace assay::registry
