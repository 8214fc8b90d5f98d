// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/error.h"

#include <filesystem>
#include <string>

namespace assay::sandbox::bubblewrap {

/// Names a data directory on this machine: 16 hex digits from its device, inode and birth time. The same after a
/// restart or a rename; never the same for a copy, so that no server takes another's boxes for its own.
Result<std::string> instanceOf(const std::filesystem::path& dataDirectory);

} // namespace assay::sandbox::bubblewrap
