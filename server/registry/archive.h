// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/file_io.h"
#include "server/registry/package.h"

#include <filesystem>

namespace assay::registry {

enum class ArchiveKind : std::uint8_t { Zip, Tar, TarGz };

/// Unpacks the archive in `fd` (a regular file at offset 0) into an unlinked file below `scratchDirectory`, applying
/// every limit while reading. `InvalidPackage` with a package code (`corrupt_archive`, `archive_ratio`,
/// `link_not_allowed`, `file_too_large`, ...) for what the archive itself gets wrong. Paths are not judged here:
/// `validatePackage` does.
Result<PackageSource> readArchive(int fd, ArchiveKind kind, const PackageLimits& limits,
                                  const std::filesystem::path& scratchDirectory);

/// A deterministic archive of `files` below one top folder `topFolder`: the same files give the same bytes. Modes are
/// 0644 and 0755, times the epoch's start of zip (1980-01-01) and of tar (0), owners 0.
Result<std::string> writeArchive(const std::vector<PackageFile>& files, std::string_view topFolder, ArchiveKind kind);

} // namespace assay::registry
