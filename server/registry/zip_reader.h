// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/registry/archive_intake.h"

namespace assay::registry {

/// Reads every entry of the zip in `fd` (a regular file of `fileSize` bytes, at offset 0) into `intake`. Errors as in
/// `readArchive`.
Result<void> readZip(int fd, std::uint64_t fileSize, const PackageLimits& limits, ArchiveIntake& intake);

} // namespace assay::registry
