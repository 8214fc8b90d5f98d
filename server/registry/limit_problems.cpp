// SPDX-License-Identifier: Apache-2.0
#include "server/registry/limit_problems.h"

namespace assay::registry {

Problem fileTooLarge(std::string_view path, std::uint64_t size, const PackageLimits& limits)
{
    return {.code = "file_too_large",
            .message = "the file has " + std::to_string(size) + " bytes; the limit is " + shownSize(limits.fileBytes) +
                       " a file",
            .path = shownPath(path)};
}

Problem packageTooLarge(std::uint64_t size, const PackageLimits& limits)
{
    return {.code = "package_too_large",
            .message = "the package has " + std::to_string(size) + " bytes or more; the limit is " +
                       shownSize(limits.packageBytes) + ": remove files or publish them elsewhere"};
}

Problem tooManyFiles(std::uint64_t count, const PackageLimits& limits)
{
    return {.code = "too_many_files",
            .message = "the package has " + std::to_string(count) + " files or more; the limit is " +
                       std::to_string(limits.files)};
}

Problem ratioTooHigh(std::uint64_t size, std::uint64_t compressedSize, const PackageLimits& limits)
{
    return {.code = "archive_ratio",
            .message = "the archive's " + std::to_string(compressedSize) + " bytes unpack to " + std::to_string(size) +
                       " or more; above " + shownSize(limits.ratioFloorBytes) + " the limit is " +
                       std::to_string(limits.archiveRatio) + " to 1"};
}

} // namespace assay::registry
