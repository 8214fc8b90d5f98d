// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace assay::registry::capabilities {

// Names that come with the base root (docs/base-root.md): nothing has to be installed for them.

/// Top-level modules of Python 3's standard library, up to 3.13, and what the base's pip brings.
bool isPythonStandard(std::string_view module);
/// Modules that come with Node, without "node:".
bool isNodeStandard(std::string_view module);
/// A module whose purpose is to talk over a network.
bool isPythonNetwork(std::string_view module);
bool isJavaScriptNetwork(std::string_view module);

} // namespace assay::registry::capabilities
