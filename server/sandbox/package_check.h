// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/sandbox/box_spec.h"
#include "server/sandbox/tree_listing.h"

namespace assay::sandbox {

/// Compares what a box sees below /skills with the pinned packages: every file with its bytes, size and mode (0444 or
/// 0555), every folder (0555), nothing missing, nothing more, all on read-only mounts. `Refused` with `digest_mismatch`
/// names the first difference.
Result<void> checkPackages(const TreeListing& seen, const std::vector<PinnedPackage>& pinned);

} // namespace assay::sandbox
