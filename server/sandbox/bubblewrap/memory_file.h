// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/error.h"
#include "server/core/unique_fd.h"

#include <string>
#include <string_view>

namespace assay::sandbox::bubblewrap {

/// A file in memory that holds `bytes`, sealed, to be read from its start.
Result<UniqueFd> sealedFile(const char* name, std::string_view bytes);

/// A file in memory that can be written up to `bytes` and never grows: for a child's messages.
Result<UniqueFd> boundedFile(const char* name, std::size_t bytes);

/// What was written to a `boundedFile`: its text up to the first NUL, unprintable bytes replaced.
std::string writtenText(int boundedFile);

} // namespace assay::sandbox::bubblewrap
