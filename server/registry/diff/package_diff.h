// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/contract/diff.h"
#include "server/registry/package.h"

#include <span>

namespace assay::registry::diff {

/// What one comparison looks at (docs/diff.md). A file beyond its own limit is `too_large`, told with what is known of
/// it; when the answer is full, further files are `omitted` and can be asked for alone.
struct DiffLimits
{
    std::uint64_t fileBytes = 4U << 20;   ///< on either side
    std::uint32_t fileLines = 50'000;     ///< on either side
    std::uint64_t totalBytes = 24U << 20; ///< of all texts that are compared, both sides
    std::uint64_t shownLines = 30'000;    ///< of all hunks
    std::uint64_t shownBytes = 8U << 20;  ///< about: text of all hunks
};

/// Compares two packages, whose files are sorted by path as `ValidPackage` has them, with digest, kind and media type.
/// Pure, bounded by `limits`; any thread.
Result<contract::PackageDiff> diffPackages(std::span<const PackageFile> before, std::span<const PackageFile> after,
                                           const contract::DiffOptions& options, const DiffLimits& limits = {});

} // namespace assay::registry::diff
