// SPDX-License-Identifier: Apache-2.0
#include "server/registry/archive.h"
#include "server/registry/archive_intake.h"
#include "server/registry/tar_reader.h"
#include "server/registry/zip_reader.h"

#include <cerrno>
#include <sys/stat.h>

namespace assay::registry {

Result<PackageSource> readArchive(int fd, ArchiveKind kind, const PackageLimits& limits,
                                  const std::filesystem::path& scratchDirectory)
{
    struct stat info{};
    if (::fstat(fd, &info) != 0)
        return failErrno("stat of an archive", errno);
    if (!S_ISREG(info.st_mode))
        return fail(ErrorCode::InvalidArgument, "the archive must be a regular file");
    const auto size = static_cast<std::uint64_t>(info.st_size);
    auto intake = ArchiveIntake::open(scratchDirectory, limits, size);
    if (!intake)
        return forward(intake);
    auto read = kind == ArchiveKind::Zip ? readZip(fd, size, limits, *intake) : readTar(fd, kind, limits, *intake);
    if (!read)
        return forward(read);
    return intake->finish();
}

} // namespace assay::registry
