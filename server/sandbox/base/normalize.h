// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/error.h"

#include <filesystem>
#include <stop_token>

namespace assay::sandbox::base {

/// Takes out of a fresh root what differs from build to build or has no place in a box: logs, caches, package lists,
/// machine-id, backups of the account files, special files, setuid and setgid bits; writes the box's own account files;
/// sets every time to `kBaseTime`.
Result<void> normalizeTree(const std::filesystem::path& root, std::stop_token cancel);

/// 2025-01-01T00:00:00Z, also the build's SOURCE_DATE_EPOCH.
inline constexpr std::int64_t kBaseTime = 1'735'689'600;

} // namespace assay::sandbox::base
