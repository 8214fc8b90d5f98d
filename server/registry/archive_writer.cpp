// SPDX-License-Identifier: Apache-2.0
#include "server/registry/archive.h"

#include "server/registry/tar_writer.h"
#include "server/registry/zip_writer.h"

namespace assay::registry {

Result<std::string> writeArchive(const std::vector<PackageFile>& files, std::string_view topFolder, ArchiveKind kind)
{
    switch (kind) {
    case ArchiveKind::Zip:
        return writeZip(files, topFolder);
    case ArchiveKind::Tar:
        return writeTar(files, topFolder);
    case ArchiveKind::TarGz:
        break;
    }
    return writeTarGz(files, topFolder);
}

} // namespace assay::registry
