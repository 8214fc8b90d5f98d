// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace assay::registry {

/// True for what archivers and desktops add and no skill means: `__MACOSX/`, `.DS_Store`, `._*` and `.git`. An unsafe
/// path (absolute, or with a segment `..`) is never ignored: it is refused.
bool isIgnoredEntry(std::string_view path);

/// `path` without one leading `./`; the folder `./` itself gives an empty path.
std::string_view withoutDotSlash(std::string_view path);

/// The one folder that holds all of `files` and `folders` and may be taken off their paths; empty when there is none,
/// when a file stands at the root, or when the folder's own name breaks a path rule (then the files must show it).
std::string findTopFolder(const std::vector<std::string_view>& files, const std::vector<std::string_view>& folders);

} // namespace assay::registry
