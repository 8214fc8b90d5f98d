// SPDX-License-Identifier: Apache-2.0
#include "server/registry/skill_md.h"

namespace assay::registry {

namespace {

bool isDashes(std::string_view line)
{
    return line.starts_with("---") && line.find_first_not_of(" \t\r", 3) == std::string_view::npos;
}

/// The line at `start` without its LF.
std::string_view lineAt(std::string_view text, std::size_t start)
{
    return text.substr(start, std::min(text.find('\n', start), text.size()) - start);
}

Problem missing()
{
    return {.code = "missing_frontmatter",
            .message = "the first line must be \"---\", followed by the YAML frontmatter and a closing line \"---\"",
            .path = std::string(kSkillMd),
            .line = 1};
}

Problem unclosed()
{
    return {.code = "invalid_frontmatter",
            .message = "the frontmatter that starts here is not closed; end it with a line \"---\"",
            .path = std::string(kSkillMd),
            .line = 1,
            .column = 1};
}

} // namespace

std::expected<SkillMdParts, Problem> splitSkillMd(std::string_view text)
{
    const std::size_t first = text.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
    const std::string_view opening = lineAt(text, first);
    if (!isDashes(opening))
        return std::unexpected(missing());
    const std::size_t start = first + opening.size() + 1;
    for (std::size_t at = start; at < text.size();) {
        const std::string_view line = lineAt(text, at);
        if (isDashes(line)) {
            const std::size_t body = std::min(at + line.size() + 1, text.size());
            return SkillMdParts{text.substr(start, at - start), start, text.substr(body), body};
        }
        at += line.size() + 1;
    }
    return std::unexpected(unclosed());
}

} // namespace assay::registry
