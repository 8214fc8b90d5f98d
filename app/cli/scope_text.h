// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/cli/command.h"

namespace assay::cli {

/// A scope's settings as text.
std::string scopeText(const json::value& scope);

} // namespace assay::cli
