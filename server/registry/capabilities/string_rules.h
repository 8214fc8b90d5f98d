// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/registry/capabilities/findings.h"

namespace assay::registry::capabilities {

/// What a text literal or a word of a shell names: hosts (net.url, net.url-computed, net.host), paths outside the
/// workspace (file.outside), files that hold credentials (cred.file). One pass. `scriptPath` is where the text stands:
/// `..` is judged from there.
void scanText(std::string_view text, std::string_view scriptPath, std::uint32_t line, Findings& findings);

/// How a name of an environment variable is told: a credential by its words (KEY, TOKEN, SECRET ...), else plain; names
/// that every process has (PATH, HOME ...) are not told at all.
void tellVariable(std::string_view name, std::string_view scriptPath, std::uint32_t line, Findings& findings);
/// Reading all variables at once.
void tellAllVariables(std::string_view scriptPath, std::uint32_t line, Findings& findings);

bool looksLikeCredential(std::string_view name);

} // namespace assay::registry::capabilities
