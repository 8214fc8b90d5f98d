// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/registry/package.h"

#include <filesystem>

namespace assay::registry {

/// What happens to a symbolic link in a folder. `CopyInside` replaces one that stays inside the folder by a copy of
/// what it points at, and lists it in `PackageSource::copiedLinks`; one that leaves the folder, points at nothing or
/// at a folder above itself is `link_not_allowed` in both.
enum class FolderLinks : std::uint8_t { Refuse, CopyInside };

/// Reads a skill's folder as a package source, for the command line: every file below a held descriptor without
/// following links, the owner's executable bit, the limits while reading. What archives ignore (`.git`, `.DS_Store`,
/// ...) is ignored here; a folder is listed with a slash and not entered. Devices, FIFOs and sockets are
/// `link_not_allowed`. `topFolder` is the folder's own name. `NotFound` when there is no such folder,
/// `InvalidArgument` when it, or a file in it, cannot be read. Holds the content in memory.
Result<PackageSource> readFolder(const std::filesystem::path& folder, FolderLinks links, const PackageLimits& limits);

} // namespace assay::registry
