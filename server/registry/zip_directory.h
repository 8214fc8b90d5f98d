// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace assay::registry {

/// One entry of a zip's central directory that its local header agrees with.
struct ZipEntry
{
    enum class Kind : std::uint8_t { File, Folder, Other };
    std::string name; ///< as stored, or of the Unicode path field; may be anything
    Kind kind = Kind::File;
    bool executable = false;
    std::uint64_t compressedSize = 0;
    std::uint64_t size = 0;
    std::uint64_t offset = 0;     ///< of the local header
    std::uint64_t contentEnd = 0; ///< the offset behind the compressed content
    std::uint32_t crc = 0;
    std::uint16_t flags = 0;
    std::uint16_t method = 0;
};

/// The entries of the zip in `fd` (a regular file) in the order of their offsets. The structure of APPNOTE.TXT 6.3.10
/// must tile the file without a gap: local headers and contents from byte 0, then the central directory, then its end
/// record. Encryption, methods other than stored and deflate, several disks, and every contradiction between a local
/// header and the directory are `corrupt_archive`; more than `maxEntries` is `too_many_files`.
Result<std::vector<ZipEntry>> readZipDirectory(int fd, std::uint64_t fileSize, std::uint64_t maxEntries);

} // namespace assay::registry
