// SPDX-License-Identifier: Apache-2.0
#include "app/cli/local_package.h"

#include "server/core/file_io.h"
#include "server/registry/folder.h"

#include <fcntl.h>

namespace assay::cli {

namespace {

constexpr registry::PackageLimits kLimits{}; // the server's may be others; it judges again

Result<registry::PackageSource> readSource(const std::string& path, Links links)
{
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored))
        return registry::readFolder(
            path, links == Links::Copy ? registry::FolderLinks::CopyInside : registry::FolderLinks::Refuse, kLimits);
    const auto kind = archiveKindOf(path);
    if (!kind)
        return fail(ErrorCode::InvalidArgument,
                    path + (std::filesystem::exists(path, ignored)
                                ? " is neither a folder nor a .zip, .tar, .tar.gz or .tgz file"
                                : " does not exist"));
    auto file = openFile(path, O_RDONLY);
    if (!file)
        return fail(ErrorCode::InvalidArgument, path + " cannot be opened");
    return registry::readArchive(file->get(), *kind, kLimits, std::filesystem::temp_directory_path());
}

} // namespace

Result<LocalPackage> readLocalPackage(const std::string& path, std::string_view name, Links links)
{
    auto source = readSource(path, links);
    if (!source)
        return forward(source);
    std::vector<std::string> copied = source->copiedLinks;
    auto package = registry::validatePackage(std::move(*source), name, kLimits);
    if (!package)
        return forward(package);
    return LocalPackage{std::move(*package), std::move(copied),
                        std::filesystem::is_directory(path) ? path : std::string()};
}

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
