// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/error.h"

#include <chrono>
#include <stop_token>
#include <string>

namespace assay::sandbox::base {

/// The lines for sources.list that give `suite` (and its security updates) from where this machine's own configuration
/// of apt gets Debian. `Unavailable` when it names no source.
Result<std::string> debianSources(const std::string& suite, std::chrono::steady_clock::time_point deadline,
                                  std::stop_token cancel);

} // namespace assay::sandbox::base
