// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/registry/capabilities/findings.h"

namespace assay::registry::capabilities {

/// Is this a file that lists wanted packages: requirements*.txt, package.json, pyproject.toml?
bool isPackageManifest(std::string_view path);

/// The packages it wants (pkg.manifest) and, for package.json, what npm runs at an install (code.install-hook). What
/// cannot be read is told as such. Linear; no TOML or requirement syntax is evaluated.
void scanManifest(const Source& source, Findings& findings);

/// The inline metadata of a Python script (PEP 723): "# dependencies = [...]" between "# /// script" and "# ///".
void scanInlineMetadata(const Source& source, Findings& findings);

} // namespace assay::registry::capabilities
