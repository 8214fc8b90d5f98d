// SPDX-License-Identifier: Apache-2.0
#include "app/cli/command.h"

namespace assay::cli {

std::string labelled(std::string_view label, std::string_view value)
{
    constexpr std::size_t kWidth = 12;
    if (value.empty())
        return {};
    std::string out = "  " + std::string(label);
    out.append(label.size() < kWidth ? kWidth - label.size() : 1, ' ');
    return out + plain(value) + '\n';
}

std::string findingLines(const json::value& answer, std::string_view member, std::string_view folder)
{
    std::string out;
    for (const json::value& one : itemsOf(answer, member)) {
        Problem problem{
            textOf(one, "code"),  textOf(one, "message"), textOf(one, "path"), textOf(one, "pointer"), {}, {},
            textOf(one, "client")};
        if (const std::uint64_t line = numberOf(one, "line"))
            problem.line = static_cast<std::uint32_t>(line);
        if (const std::uint64_t column = numberOf(one, "column"))
            problem.column = static_cast<std::uint32_t>(column);
        out += "  " + problemText(problem, folder) + '\n';
    }
    return out;
}

} // namespace assay::cli
