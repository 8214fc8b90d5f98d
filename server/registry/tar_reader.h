// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/registry/archive.h"
#include "server/registry/archive_intake.h"

namespace assay::registry {

/// Reads every entry of the tar in `fd` (a regular file; gzip around it for `TarGz`) into `intake`. The stream is read
/// once. Errors as in `readArchive`.
Result<void> readTar(int fd, ArchiveKind kind, const PackageLimits& limits, ArchiveIntake& intake);

} // namespace assay::registry
