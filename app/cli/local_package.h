// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/registry/archive.h"
#include "server/registry/package.h"

#include <optional>
#include <string>
#include <vector>

namespace assay::cli {

/// What to do with a link inside a skill's folder that stays inside it.
enum class Links : std::uint8_t { Refuse, Copy };

/// A skill read from this machine: a folder, or an archive (.zip, .tar, .tar.gz, .tgz).
struct LocalPackage
{
    registry::ValidPackage package;
    /// With `Links::Copy`: the links that became copies.
    std::vector<std::string> copiedLinks;
    /// The folder that findings are below, for messages; empty for an archive.
    std::string folder;
};

/// Reads and validates by the server's own rules, without a server. `name` is the registry name, or empty for the one
/// that the frontmatter gives. `InvalidPackage` with every finding; `InvalidArgument` for a path that is no skill.
Result<LocalPackage> readLocalPackage(const std::string& path, std::string_view name, Links links);

/// The kind that a file's name tells; empty for another.
std::optional<registry::ArchiveKind> archiveKindOf(std::string_view path);

/// The Content-Type of an upload.
std::string_view mediaTypeOf(registry::ArchiveKind kind);

} // namespace assay::cli
