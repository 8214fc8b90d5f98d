// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/registry/package.h"

namespace assay::registry {

/// The first bytes of every canonical stream (docs/package-format.md).
inline constexpr std::string_view kCanonicalMagic = "assay-package-v1\n";

/// Every byte of the canonical stream of `files` that is not a file's content, in order. `files` are in the byte order
/// of their paths.
std::string canonicalPrefixes(const std::vector<PackageFile>& files);

} // namespace assay::registry
