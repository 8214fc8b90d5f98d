// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/error.h"
#include "server/sandbox/box_spec.h"

#include <string>

namespace assay::sandbox {

/// The variables every command gets, the same in each driver, in this order: PATH, HOME, LANG, TMPDIR, USER. `extra`
/// replaces or adds; the last of equal names counts. Nothing else reaches a command.
std::vector<std::string> commandEnvironment(const std::vector<std::pair<std::string, std::string>>& extra);

/// The payload of a Run frame (docs/channel-protocol.md). `InvalidArgument` for no argv, a zero byte, a variable's name
/// that is empty or holds '=', over 4,096 arguments, 1,024 variables or 1 MiB in all.
Result<std::string> encodeCommand(const Command& command);

} // namespace assay::sandbox
