// SPDX-License-Identifier: Apache-2.0
#include "server/registry/path_rules.h"

#include "server/core/text.h"

#include <algorithm>
#include <array>

namespace assay::registry {

namespace {

constexpr std::string_view kReserved = ".assay";

std::string lowerAscii(std::string_view text)
{
    std::string out(text);
    std::ranges::transform(out, out.begin(),
                           [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    return out;
}

bool isAsciiLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// Windows opens the device whatever follows the first dot, and ignores blanks before it.
bool isDeviceName(std::string_view segment)
{
    std::string stem = lowerAscii(segment.substr(0, segment.find('.')));
    stem.erase(stem.find_last_not_of(' ') + 1);
    constexpr std::array<std::string_view, 6> names{"con", "prn", "aux", "nul", "conin$", "conout$"};
    if (std::ranges::contains(names, stem))
        return true;
    if (!stem.starts_with("com") && !stem.starts_with("lpt"))
        return false;
    const std::string number = stem.substr(3);
    constexpr std::array<std::string_view, 3> superscripts{"\u00b9", "\u00b2", "\u00b3"};
    return (number.size() == 1 && number[0] >= '1' && number[0] <= '9') || std::ranges::contains(superscripts, number);
}

/// Why the segment may not be; empty when it may.
std::string segmentFault(std::string_view segment)
{
    if (segment.empty())
        return "it has an empty segment (a leading, trailing or double slash)";
    if (segment == "." || segment == "..")
        return "it has the segment " + inQuotes(segment) + "; write the path without it";
    if (segment.size() > kMaxSegmentBytes)
        return "a segment has " + std::to_string(segment.size()) + " bytes; the limit is " +
               std::to_string(kMaxSegmentBytes);
    if (segment.size() >= 2 && segment[1] == ':' && isAsciiLetter(segment[0]))
        return "the segment " + inQuotes(segment) + " starts like a Windows drive";
    if (segment.ends_with('.') && segment.find_first_not_of('.') != std::string_view::npos)
        return "the segment " + inQuotes(segment) + " ends with a dot, which Windows drops";
    if (segment.ends_with(' '))
        return "the segment " + inQuotes(segment) + " ends with a space, which Windows drops";
    if (isDeviceName(segment))
        return "the segment " + inQuotes(segment) + " is a device name on Windows; rename it";
    return {};
}

std::string characterFault(std::string_view path)
{
    while (!path.empty()) {
        const char32_t c = takeCodePoint(path);
        if (c == '\\')
            return "it has a backslash; separate folders with \"/\"";
        if (isControlOrInvisible(c))
            return "it has a control or invisible character";
    }
    return {};
}

std::string pathFault(std::string_view path)
{
    if (path.empty())
        return "it is empty";
    if (path.starts_with('/'))
        return "it is absolute; paths are relative to the skill's folder";
    if (path.size() > kMaxPathBytes)
        return "it has " + std::to_string(path.size()) + " bytes; the limit is " + std::to_string(kMaxPathBytes);
    if (std::string fault = characterFault(path); !fault.empty())
        return fault;
    for (std::size_t start = 0; start <= path.size();) {
        const std::size_t slash = std::min(path.find('/', start), path.size());
        if (std::string fault = segmentFault(path.substr(start, slash - start)); !fault.empty())
            return fault;
        start = slash + 1;
    }
    return {};
}

JudgedPath unsafe(std::string path, std::string_view raw, const std::string& fault)
{
    return {std::move(path), "unsafe_path", "the path " + inQuotes(raw) + " is not allowed: " + fault};
}

} // namespace

JudgedPath judgePath(std::string_view raw)
{
    // Normalizing can shorten a path, but never to a sixteenth.
    if (raw.size() > 16 * kMaxPathBytes)
        return unsafe(std::string(raw), raw,
                      "it has " + std::to_string(raw.size()) + " bytes; the limit is " + std::to_string(kMaxPathBytes));
    if (!isUtf8(raw))
        return unsafe(std::string(raw), raw, "it is not UTF-8; rename the file");
    std::string path = toNfc(raw);
    if (std::string fault = pathFault(path); !fault.empty())
        return unsafe(std::move(path), raw, fault);
    if (caseFoldKey(path.substr(0, path.find('/'))) == kReserved)
        return {std::move(path), "reserved_path",
                "the path " + inQuotes(raw) + " is reserved for the runtime; rename the folder \".assay\""};
    return {std::move(path), {}, {}};
}

std::optional<Problem> lintWindowsPath(const std::string& path)
{
    const std::size_t at = path.find_first_of("<>:\"|?*");
    if (at == std::string::npos)
        return std::nullopt;
    return Problem{.code = "windows_path",
                   .message = "Windows cannot hold a path with " + inQuotes(path.substr(at, 1)) + "; rename the file",
                   .path = path,
                   .client = "windows"};
}

} // namespace assay::registry
