// SPDX-License-Identifier: Apache-2.0
#include "app/cli/local_package.h"

namespace assay::cli {

std::optional<registry::ArchiveKind> archiveKindOf(std::string_view path)
{
    if (path.ends_with(".zip") || path.ends_with(".skill"))
        return registry::ArchiveKind::Zip;
    if (path.ends_with(".tar"))
        return registry::ArchiveKind::Tar;
    if (path.ends_with(".tar.gz") || path.ends_with(".tgz"))
        return registry::ArchiveKind::TarGz;
    return std::nullopt;
}

std::string_view mediaTypeOf(registry::ArchiveKind kind)
{
    switch (kind) {
    case registry::ArchiveKind::Zip:
        return "application/zip";
    case registry::ArchiveKind::Tar:
        return "application/x-tar";
    case registry::ArchiveKind::TarGz:
        return "application/gzip";
    }
    return "application/octet-stream";
}

} // namespace assay::cli
