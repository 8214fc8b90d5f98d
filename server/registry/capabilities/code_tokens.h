// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace assay::registry::capabilities {

enum class Language : std::uint8_t { Python, JavaScript };

/// What a rule sees of code: comments, numbers' inside, regular expressions and a Python documentation string are gone.
struct CodeToken
{
    enum class Kind : std::uint8_t { Name, Text, Mark, LineEnd };
    Kind kind = Kind::LineEnd;
    std::uint32_t line = 1;
    std::string_view text; ///< a literal without its quotes, escapes as written

    bool isName() const { return kind == Kind::Name; }
    bool isText() const { return kind == Kind::Text; }
    bool isMark(char mark) const { return kind == Kind::Mark && text.front() == mark; }
};

/// Reads `text` once; broken code gives some tokens, never a failure. The tokens point into `text`. Pure.
std::vector<CodeToken> codeTokens(std::string_view text, Language language, std::uint32_t firstLine);

} // namespace assay::registry::capabilities
