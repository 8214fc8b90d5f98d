// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/registry/package.h"

#include <optional>
#include <span>

namespace assay::registry::diff {

/// A file before and after; null on the side that does not have it.
struct FilePair
{
    const PackageFile* before = nullptr;
    const PackageFile* after = nullptr;
    std::uint32_t similarity = 100; ///< percent; meaningful when the paths differ

    bool isRenamed() const { return before != nullptr && after != nullptr && before->path != after->path; }
    const std::string& path() const { return after != nullptr ? after->path : before->path; }
};

/// The files that differ in bytes, mode or path, in the order of their paths. Both lists are sorted by path, without
/// twins. A removed and an added file are a rename when their bytes are equal (empty files aside), or when both are
/// text and at least `kLeastSimilarity` percent of their lines' bytes are the same. Looking for the latter is bounded:
/// beyond 400 candidates a side, files over 1 MiB and a number of steps, files stay added and removed.
std::vector<FilePair> pairFiles(std::span<const PackageFile> before, std::span<const PackageFile> after);

inline constexpr std::uint32_t kLeastSimilarity = 50;

} // namespace assay::registry::diff
