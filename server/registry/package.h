// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/digest.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace assay::registry {

/// The operator's limits on one package. Defaults are architecture.md's; a publish over a limit is rejected by a
/// message that names file, size and limit.
struct PackageLimits
{
    std::uint64_t fileBytes = 10ULL << 20;
    std::uint64_t packageBytes = 50ULL << 20;
    std::uint32_t files = 2000;
    /// Uncompressed over compressed size, applied above `ratioFloorBytes` of output.
    std::uint32_t archiveRatio = 100;
    std::uint64_t ratioFloorBytes = 1ULL << 20;
};

/// One file as it arrived, before any rule was applied. `content` points into the `PackageSource` that owns the bytes.
struct SourceFile
{
    std::string path; ///< as sent; may be anything, also not UTF-8
    std::string_view content;
    bool executable = false;
};

/// The bytes of a package as received: in memory (JSON) or an unlinked, mapped file (archives). Move only.
class PackageSource
{
public:
    /// Keeps `storage` alive for as long as the views in `files` are used.
    PackageSource(std::vector<SourceFile> files, std::shared_ptr<const void> storage)
        : m_files(std::move(files)), m_storage(std::move(storage))
    {}
    const std::vector<SourceFile>& files() const { return m_files; }
    const std::shared_ptr<const void>& storage() const { return m_storage; }
    /// Entries that every rule skips (`.DS_Store`, `__MACOSX/`, ...), for the answer's `ignored`.
    std::vector<std::string> ignored;
    /// The archive's single top folder, which the package was taken out of, or the name of the folder that was read;
    /// empty when there was none.
    std::string topFolder;
    /// The links of a folder that were replaced by copies of what they point at (`FolderLinks::CopyInside`).
    std::vector<std::string> copiedLinks;

private:
    std::vector<SourceFile> m_files;
    std::shared_ptr<const void> m_storage;
};

enum class FileKind : std::uint8_t { Text, Asset };

/// One file of a valid package. `path` is in NFC.
struct PackageFile
{
    std::string path;
    std::string_view content; ///< points into the package's storage
    Digest sha256;
    std::string mediaType;
    FileKind kind = FileKind::Text;
    bool executable = false;
};

/// A package that passed every rule: its files in the byte order of their paths, its canonical digest
/// ("assay-package-v1", docs/package-format.md) and what the frontmatter says. Immutable, movable.
struct ValidPackage
{
    std::vector<PackageFile> files;
    Digest digest;
    std::uint64_t sizeBytes = 0; ///< the sum of the files' sizes
    std::string name;            ///< the registry name it was validated for
    std::string description;
    std::string network;      ///< frontmatter metadata `assay.network`, as written; empty when absent
    std::string allowedTools; ///< frontmatter `allowed-tools` in canonical form; empty when absent
    std::string inputSchema;  ///< frontmatter metadata `assay.input-schema`: a path; empty when absent
    std::string outputSchema;
    bool requiresExecution = false; ///< it has something to execute, or its frontmatter says so
    std::vector<Problem> lints;
    std::vector<std::string> ignored;
    std::shared_ptr<const void> storage; ///< owns what the views point at

    /// The canonical stream as consecutive pieces, ready for one writev or one hash; never copied together.
    std::vector<std::string_view> canonicalPieces() const;

    /// Backs the length prefixes of `canonicalPieces`; filled by the validator.
    std::shared_ptr<const std::string> prefixes;
};

/// Applies every rule of architecture.md ("The package and its digest") to `source` for the registry name
/// `registryName`; when that is empty the frontmatter's slug is the name. `InvalidPackage` carries up to 100 problems
/// by path and line. Never executes, imports or compiles anything. Linear in files and bytes. Thread-safe.
Result<ValidPackage> validatePackage(PackageSource source, std::string_view registryName, const PackageLimits& limits);

/// Whether reading a canonical stream also hashes each file and tells its kind and media type, which the stream does
/// not hold. Who has them from the catalog skips that.
enum class FileFacts : std::uint8_t { Compute, Skip };

/// Reads back a canonical stream: the files, in order, as views into `stream`. `Internal` when it is not of the form.
Result<std::vector<PackageFile>> parseCanonicalStream(std::string_view stream, FileFacts facts = FileFacts::Compute);

} // namespace assay::registry
