// SPDX-License-Identifier: Apache-2.0
#include "server/sandbox/result_path.h"

#include "server/core/digest.h"
#include "server/core/text.h"

#include <algorithm>
#include <array>

namespace assay::sandbox {

namespace {

constexpr std::size_t kMaxBytes = 512;

bool isHarmless(char32_t c)
{
    struct Range
    {
        char32_t first;
        char32_t last;
    };
    constexpr std::array<Range, 9> kRefused{{{0x00, 0x1f},
                                             {'\\', '\\'},
                                             {0x7f, 0x9f},
                                             {0x61c, 0x61c},
                                             {0x200b, 0x200f},
                                             {0x2028, 0x202e},
                                             {0x2060, 0x2069},
                                             {0xfeff, 0xfeff},
                                             {0xfffd, 0xfffd}}};
    return std::ranges::none_of(kRefused, [c](Range range) { return c >= range.first && c <= range.last; });
}

} // namespace

bool isSafeResultPath(std::string_view path)
{
    if (path.empty() || path.size() > kMaxBytes || !isUtf8(path))
        return false;
    while (!path.empty()) {
        if (!isHarmless(takeCodePoint(path)))
            return false;
    }
    return true;
}

std::string printablePath(std::string_view path)
{
    std::string text;
    for (std::string_view rest = path.substr(0, kMaxBytes); !rest.empty();) {
        const std::string_view before = rest;
        const char32_t c = takeCodePoint(rest);
        const std::string_view taken = before.substr(0, before.size() - rest.size());
        if (isHarmless(c)) {
            text += taken;
            continue;
        }
        for (const char byte : taken)
            text += "\\x" + toHex({&byte, 1});
    }
    return text;
}

} // namespace assay::sandbox
