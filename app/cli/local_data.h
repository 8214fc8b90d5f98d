// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/error.h"

#include <filesystem>
#include <string>

namespace assay::cli {

/// The data directory that local administration is about: `flag`, else ASSAY_DATA, else $XDG_DATA_HOME/assay
/// (~/.local/share/assay): what the server takes. `NotFound` with what to do when there is no such folder.
Result<std::filesystem::path> existingDataDirectory(const std::string& flag);

/// The same, made (private to its owner, mode 0700) when it does not exist. `PermissionDenied` when others may enter
/// it.
Result<std::filesystem::path> madeDataDirectory(const std::string& flag);

} // namespace assay::cli
