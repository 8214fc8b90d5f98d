// SPDX-License-Identifier: Apache-2.0
#include "server/registry/allowed_tools.h"

#include <algorithm>

namespace assay::registry {

namespace {

bool isBlank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

void append(AllowedTools& out, std::string_view name)
{
    if (name.empty())
        return;
    if (!out.canonical.empty())
        out.canonical += ' ';
    out.canonical += name;
}

/// Splits at blanks and commas outside parentheses: `Bash(git add:*) Read` are two names.
void split(AllowedTools& out, std::string_view text)
{
    int depth = 0;
    std::size_t start = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '(')
            ++depth;
        else if (text[i] == ')')
            depth = std::max(depth - 1, 0);
        else if (depth == 0 && (isBlank(text[i]) || text[i] == ',')) {
            out.isPortable = out.isPortable && text[i] != ',';
            append(out, text.substr(start, i - start));
            start = i + 1;
        }
    }
    append(out, text.substr(start));
}

} // namespace

AllowedTools readAllowedTools(const YamlNode& node)
{
    AllowedTools out;
    if (node.kind == YamlNode::Kind::Scalar) {
        if (!node.isNull())
            split(out, node.value);
        return out;
    }
    out.isPortable = false;
    if (node.kind == YamlNode::Kind::Sequence) {
        for (const YamlNode& item : node.items) {
            if (item.kind == YamlNode::Kind::Scalar)
                split(out, item.value);
        }
    }
    return out;
}

} // namespace assay::registry
