// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/registry/capabilities/findings.h"

#include <set>
#include <string>

namespace assay::registry::capabilities {

/// Top-level Python modules that the package itself has.
using OwnModules = std::set<std::string, std::less<>>;

// One for each language: comments are skipped, literals are judged as texts (string_rules.h), code that stands in a
// literal and is executed is judged as such down to `kMaxDepth`. Linear in the source. Pure.

void scanPython(const Source& source, const OwnModules& own, Findings& findings);
void scanJavaScript(const Source& source, Findings& findings);
void scanShell(const Source& source, const OwnModules& own, Findings& findings);

} // namespace assay::registry::capabilities
