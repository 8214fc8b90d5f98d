// SPDX-License-Identifier: Apache-2.0
#include "server/sandbox/glob.h"

namespace assay::sandbox {

namespace {

constexpr std::size_t kMaxBytes = 512;
constexpr std::size_t kMaxSegments = 64;

std::vector<std::string_view> split(std::string_view path)
{
    std::vector<std::string_view> segments;
    for (std::size_t begin = 0; begin <= path.size();) {
        const std::size_t end = std::min(path.find('/', begin), path.size());
        segments.push_back(path.substr(begin, end - begin));
        begin = end + 1;
    }
    return segments;
}

/// `*` needs only one place to come back to: the last star, taking one more byte each time.
bool matchesSegment(std::string_view pattern, std::string_view text)
{
    std::size_t p = 0;
    std::size_t t = 0;
    std::size_t star = std::string_view::npos;
    std::size_t starText = 0;
    while (t < text.size()) {
        if (p < pattern.size() && pattern[p] == '*') {
            star = p++;
            starText = t;
        } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
            ++p;
            ++t;
        } else if (star != std::string_view::npos) {
            p = star + 1;
            t = ++starText;
        } else {
            return false;
        }
    }
    while (p < pattern.size() && pattern[p] == '*')
        ++p;
    return p == pattern.size();
}

} // namespace

Result<Glob> Glob::parse(std::string_view pattern)
{
    Glob glob;
    if (pattern.empty() || pattern.size() > kMaxBytes)
        return fail(ErrorCode::InvalidArgument, "an output pattern has 1 to 512 bytes");
    for (const std::string_view segment : split(pattern)) {
        if (segment.empty() || segment == "." || segment == "..")
            return fail(ErrorCode::InvalidArgument, "an output pattern is a relative path below /workspace/out "
                                                    "without empty, \".\" or \"..\" segments: " +
                                                        std::string(pattern));
        glob.m_segments.emplace_back(segment);
    }
    if (glob.m_segments.size() > kMaxSegments)
        return fail(ErrorCode::InvalidArgument, "an output pattern has at most 64 segments");
    return glob;
}

bool Glob::matches(std::string_view path) const
{
    // reached[i]: the segments of the path read so far can be the first i of the pattern.
    std::vector<bool> reached(m_segments.size() + 1);
    const auto skipDoubleStars = [&] {
        for (std::size_t i = 0; i < m_segments.size(); ++i)
            reached[i + 1] = reached[i + 1] || (reached[i] && m_segments[i] == "**");
    };
    reached[0] = true;
    skipDoubleStars();
    for (const std::string_view segment : split(path)) {
        for (std::size_t i = m_segments.size(); i > 0; --i) {
            const std::string& pattern = m_segments[i - 1];
            reached[i] = pattern == "**" ? reached[i] : reached[i - 1] && matchesSegment(pattern, segment);
        }
        reached[0] = false;
        skipDoubleStars();
    }
    return reached.back();
}

} // namespace assay::sandbox
