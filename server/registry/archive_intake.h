// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/registry/package.h"
#include "server/registry/problem_list.h"
#include "server/registry/spool_file.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace assay::registry {

/// What an archive's entries become: applies every limit while they come in, skips what is ignored, and gives the
/// package source at the end. Not synchronized.
class ArchiveIntake
{
public:
    /// `archiveBytes` is the size of the archive itself, for the ratio.
    static Result<ArchiveIntake> open(const std::filesystem::path& scratchDirectory, const PackageLimits& limits,
                                      std::uint64_t archiveBytes);

    enum class Fate : std::uint8_t { Keep, Skip };

    /// Starts a file of `size` bytes. `Skip`: its content is not wanted. A limit that ends the reading is an error.
    Result<Fate> beginFile(std::string_view path, std::uint64_t size, bool executable);
    /// Content of the file that was begun; more than its size is `corrupt_archive`.
    Result<void> addContent(std::string_view bytes);
    /// Less content than its size is `corrupt_archive`.
    Result<void> endFile();

    Result<void> addFolder(std::string_view path);
    /// A link, device or the like; refused when all entries were read. `kind` as in `linkNotAllowed`.
    Result<void> addLink(std::string_view path, std::string_view kind);

    Result<PackageSource> finish();

private:
    struct Record
    {
        std::string path;
        std::uint64_t offset = 0;
        std::uint64_t size = 0;
        bool executable = false;
    };

    ArchiveIntake(SpoolFile spool, const PackageLimits& limits, std::uint64_t archiveBytes)
        : m_spool(std::move(spool)), m_limits(limits), m_archiveBytes(archiveBytes)
    {}
    Result<Fate> countEntry(std::string_view path);
    Result<void> checkFileLimits(std::uint64_t size);
    void takeOffTopFolder(std::string& topFolder);
    void judgeFolders();

    SpoolFile m_spool;
    PackageLimits m_limits;
    std::uint64_t m_archiveBytes;
    std::vector<Record> m_files;
    std::vector<std::string> m_folders;
    std::vector<std::string> m_ignored;
    ProblemList m_problems;
    std::uint64_t m_entries = 0;
    std::uint64_t m_declaredBytes = 0;
};

/// Entries of any kind that an archive may have, for `limits`.
std::uint64_t maxArchiveEntries(const PackageLimits& limits);

} // namespace assay::registry
