// SPDX-License-Identifier: Apache-2.0
#include "server/registry/problem_list.h"

#include "server/core/text.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace assay::registry {

namespace {

constexpr std::size_t kMaxShownPath = 600;
constexpr std::size_t kMaxQuoted = 120;

void appendHex(std::string& out, std::uint32_t value, int digits)
{
    constexpr std::string_view alphabet = "0123456789abcdef";
    for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4)
        out += alphabet[(value >> shift) & 15];
}

enum class Escape : std::uint8_t { InvalidOnly, Invisible };

std::string escaped(std::string_view text, std::size_t limit, Escape what)
{
    std::string out;
    while (!text.empty() && out.size() < limit) {
        const std::string_view before = text;
        const char32_t c = takeCodePoint(text);
        const std::string_view taken = before.substr(0, before.size() - text.size());
        if (!isUtf8(taken)) {
            out += "\\x";
            appendHex(out, static_cast<unsigned char>(taken.front()), 2);
        } else if (what == Escape::Invisible && isControlOrInvisible(c)) {
            out += "\\u";
            appendHex(out, c, 4);
        } else {
            out += taken;
        }
    }
    return text.empty() ? out : out + "...";
}

} // namespace

void ProblemList::add(Problem problem)
{
    if (m_problems.size() < kMaxProblems)
        m_problems.push_back(std::move(problem));
}

std::vector<Problem> ProblemList::take()
{
    std::ranges::stable_sort(m_problems, [](const Problem& a, const Problem& b) {
        return std::tie(a.path, a.line, a.column) < std::tie(b.path, b.line, b.column);
    });
    return std::exchange(m_problems, {});
}

TextPosition positionAt(std::string_view text, std::size_t offset)
{
    const std::string_view before = text.substr(0, std::min(offset, text.size()));
    const std::size_t lineStart = before.rfind('\n') + 1; // npos + 1 is 0
    return {static_cast<std::uint32_t>(1 + std::ranges::count(before, '\n')),
            static_cast<std::uint32_t>(1 + countCodePoints(before.substr(lineStart)))};
}

std::string shownPath(std::string_view path)
{
    if (path.size() <= kMaxShownPath && isUtf8(path))
        return std::string(path);
    return escaped(path, kMaxShownPath, Escape::InvalidOnly);
}

std::string inQuotes(std::string_view text) { return '"' + escaped(text, kMaxQuoted, Escape::Invisible) + '"'; }

std::string shownSize(std::uint64_t bytes)
{
    constexpr std::uint64_t mib = 1ULL << 20;
    constexpr std::uint64_t kib = 1ULL << 10;
    if (bytes >= mib && bytes % mib == 0)
        return std::to_string(bytes / mib) + " MiB";
    if (bytes >= kib && bytes % kib == 0)
        return std::to_string(bytes / kib) + " KiB";
    return std::to_string(bytes) + " bytes";
}

bool isInvisible(char32_t c)
{
    return c == 0x061C || (c >= 0x200B && c <= 0x200F) || (c >= 0x2028 && c <= 0x202E) ||
           (c >= 0x2060 && c <= 0x2069) || c == 0xFEFF;
}

bool isControlOrInvisible(char32_t c) { return c < 0x20 || (c >= 0x7F && c <= 0x9F) || isInvisible(c); }

std::unexpected<Error> rejectPackage(std::vector<Problem> problems)
{
    Error error{.code = ErrorCode::InvalidPackage};
    if (!problems.empty()) {
        const Problem& first = problems.front();
        error.message = first.path.empty() ? first.message : first.path + ": " + first.message;
        if (problems.size() > 1)
            error.message += " (and " + std::to_string(problems.size() - 1) + " more)";
    }
    error.problems = std::move(problems);
    return std::unexpected(std::move(error));
}

} // namespace assay::registry
