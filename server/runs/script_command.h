// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/contract/skill.h"
#include "server/core/error.h"

#include <string>
#include <string_view>
#include <vector>

namespace assay::runs {

/// Finds `script` among a skill's files and tells whether it can be run: `InvalidArgument` at `/command/script` when it
/// is not there, or is neither executable nor of a known kind.
Result<contract::RevisionFile> findScript(const std::vector<contract::RevisionFile>& files, std::string_view skill,
                                          std::string_view script);

/// The command line that runs a script, by a rule that depends on the pinned package only (docs/runs.md):
/// executable with a shebang or an ELF header: itself; else by extension: `.py` python3, `.js .mjs .cjs` node, `.sh
/// .bash` bash; else an executable is run itself and the kernel judges. `firstBytes` are the file's first four, or
/// fewer. Python runs with `-E -s`: no user site, no PYTHON* variable, but modules beside the script can be imported.
std::vector<std::string> scriptArgv(std::string_view skill, const contract::RevisionFile& script,
                                    std::string_view firstBytes, const std::vector<std::string>& args);

} // namespace assay::runs
