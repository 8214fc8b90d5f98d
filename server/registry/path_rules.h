// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/registry/problem_list.h"

#include <optional>
#include <string>
#include <string_view>

namespace assay::registry {

/// Bytes of a path and of one of its segments, in NFC and UTF-8.
inline constexpr std::size_t kMaxPathBytes = 512;
inline constexpr std::size_t kMaxSegmentBytes = 255;

/// What the rules of architecture.md say about one path on its own.
struct JudgedPath
{
    std::string path; ///< in NFC; as given when it is not UTF-8
    std::string code; ///< empty when the path is fine, else "unsafe_path" or "reserved_path"
    std::string message;
};

/// Linear in the length of `raw`, which may be any bytes.
JudgedPath judgePath(std::string_view raw);

/// A lint when Windows cannot hold this otherwise fine path.
std::optional<Problem> lintWindowsPath(const std::string& path);

} // namespace assay::registry
