// SPDX-License-Identifier: Apache-2.0
#include "server/registry/zip_directory.h"

#include "server/registry/archive_fault.h"
#include "server/registry/limit_problems.h"
#include "server/registry/zip_records.h"

#include <algorithm>
#include <array>
#include <sys/stat.h>

namespace assay::registry {

namespace {

constexpr std::size_t kMaxComment = 0xFFFF;
constexpr std::uint64_t kMaxDirectoryBytes = 32ULL << 20;
constexpr std::uint16_t kRefusedFlags = kZipEncrypted | kZipStrongEncryption | kZipMaskedHeader;
constexpr std::uint16_t kComparedFlags = kRefusedFlags | kZipHasDescriptor | kZipUtf8Name;

/// Where the central directory is.
struct DirectoryPlace
{
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
    std::uint64_t entries = 0;
    std::uint64_t endRecords = 0; ///< the offset of the first record behind the directory
};

/// Reads one zip's structure.
class Reader
{
public:
    Reader(int fd, std::uint64_t fileSize, std::uint64_t maxEntries)
        : m_fd(fd), m_fileSize(fileSize), m_maxEntries(maxEntries)
    {}
    Result<std::vector<ZipEntry>> read();

private:
    Result<DirectoryPlace> findDirectory() const;
    Result<void> applyZip64End(DirectoryPlace& place, std::uint64_t endOffset) const;
    Result<void> checkPlace(const DirectoryPlace& place) const;
    Result<std::vector<ZipEntry>> readEntries(const DirectoryPlace& place) const;
    Result<ZipEntry> readEntry(std::string_view& rest) const;
    /// Checks the local header and gives the offset behind the entry's content.
    Result<std::uint64_t> checkLocal(const ZipEntry& entry) const;
    Result<void> checkTiling(const std::vector<ZipEntry>& entries, std::uint64_t directory) const;
    Result<void> checkDescriptor(const ZipEntry& entry, std::uint64_t from, std::uint64_t to) const;

    int m_fd;
    std::uint64_t m_fileSize;
    std::uint64_t m_maxEntries;
};

/// The end record is the last thing in the file, its comment included.
Result<DirectoryPlace> Reader::findDirectory() const
{
    const std::uint64_t window = std::min<std::uint64_t>(m_fileSize, kZipEndBytes + kMaxComment);
    const auto tail = readExactly(m_fd, m_fileSize - window, window);
    if (!tail)
        return std::unexpected(tail.error());
    for (std::size_t back = kZipEndBytes; back <= tail->size(); ++back) {
        const std::string_view record = std::string_view(*tail).substr(tail->size() - back);
        if (zipNumber(record, 0, 4) != kZipEnd || zipNumber(record, 20, 2) != back - kZipEndBytes)
            continue;
        if (zipNumber(record, 4, 4) != 0 || zipNumber(record, 8, 2) != zipNumber(record, 10, 2))
            return corruptArchive("the zip is a part of several; send it as one file");
        DirectoryPlace place{zipNumber(record, 16, 4), zipNumber(record, 12, 4), zipNumber(record, 10, 2),
                             m_fileSize - back};
        if (auto applied = applyZip64End(place, m_fileSize - back); !applied)
            return forward(applied);
        return place;
    }
    return corruptArchive("the zip has no end record; it is truncated, or bytes follow its end: send it again");
}

Result<void> Reader::applyZip64End(DirectoryPlace& place, std::uint64_t endOffset) const
{
    const bool isMarked = place.offset == kZip64Mark32 || place.size == kZip64Mark32 || place.entries == kZip64Mark16;
    if (endOffset < kZip64LocatorBytes + kZip64EndBytes)
        return isMarked ? Result<void>(corruptArchive("the zip's end record is damaged")) : Result<void>();
    const auto locator = readExactly(m_fd, endOffset - kZip64LocatorBytes, kZip64LocatorBytes);
    if (!locator)
        return std::unexpected(locator.error());
    if (zipNumber(*locator, 0, 4) != kZip64Locator)
        return isMarked ? Result<void>(corruptArchive("the zip's end record is damaged")) : Result<void>();
    const std::uint64_t at = zipNumber(*locator, 8, 8);
    if (at != endOffset - kZip64LocatorBytes - kZip64EndBytes)
        return corruptArchive("the zip's 64-bit end record is not where its locator says");
    const auto record = readExactly(m_fd, at, kZip64EndBytes);
    if (!record)
        return std::unexpected(record.error());
    const DirectoryPlace wide{zipNumber(*record, 48, 8), zipNumber(*record, 40, 8), zipNumber(*record, 32, 8), at};
    const bool agrees = (place.offset == kZip64Mark32 || place.offset == wide.offset) &&
                        (place.size == kZip64Mark32 || place.size == wide.size) &&
                        (place.entries == kZip64Mark16 || place.entries == wide.entries);
    if (zipNumber(*record, 0, 4) != kZip64End || zipNumber(*record, 4, 8) != kZip64EndBytes - 12 || !agrees ||
        zipNumber(*record, 16, 8) != 0 || zipNumber(*record, 24, 8) != wide.entries)
        return corruptArchive("the zip's two end records contradict each other");
    place = wide;
    return {};
}

Result<void> Reader::checkPlace(const DirectoryPlace& place) const
{
    if (place.entries > m_maxEntries)
        return rejectArchive({.code = "too_many_files",
                              .message = "the archive has " + std::to_string(place.entries) +
                                         " entries; the limit is " + std::to_string(m_maxEntries) +
                                         ", ignored ones and folders included"});
    if (place.size > kMaxDirectoryBytes || place.size > m_fileSize || place.offset > m_fileSize ||
        place.offset + place.size != place.endRecords)
        return corruptArchive(
            "the zip's directory is not where its end record says; bytes stand before the zip, or it is damaged");
    return {};
}

ZipEntry::Kind kindOf(std::string_view name, std::uint64_t mode)
{
    const std::uint64_t type = mode & S_IFMT;
    if (type == S_IFDIR || (name.ends_with('/') && type == 0))
        return ZipEntry::Kind::Folder;
    return type == 0 || type == S_IFREG ? ZipEntry::Kind::File : ZipEntry::Kind::Other;
}

/// What makes the entry one that is not read; empty when it is.
std::string refusal(const ZipEntry& entry)
{
    if ((entry.flags & kRefusedFlags) != 0)
        return "the entry is encrypted; send an archive without a password";
    if (entry.method != kZipStored && entry.method != kZipDeflate)
        return "the entry uses compression method " + std::to_string(entry.method) + "; use deflate";
    if (entry.method == kZipStored && entry.size != entry.compressedSize)
        return "the entry is stored, but its two sizes differ";
    if (entry.kind == ZipEntry::Kind::Folder && entry.size != 0)
        return "the folder's entry claims content";
    return {};
}

/// Takes one record off the front of the directory. Its name stays as stored: the local header must have the same.
Result<ZipEntry> Reader::readEntry(std::string_view& rest) const
{
    if (rest.size() < kZipDirectoryBytes || zipNumber(rest, 0, 4) != kZipDirectoryEntry)
        return corruptArchive("the zip's directory is damaged");
    const std::size_t nameSize = zipNumber(rest, 28, 2);
    const std::size_t extraSize = zipNumber(rest, 30, 2);
    const std::size_t total = kZipDirectoryBytes + nameSize + extraSize + zipNumber(rest, 32, 2);
    if (rest.size() < total)
        return corruptArchive("the zip's directory is damaged");
    const std::uint64_t mode = zipNumber(rest, 38, 4) >> 16;
    const std::string_view extra = rest.substr(kZipDirectoryBytes + nameSize, extraSize);
    ZipEntry entry{.name = std::string(rest.substr(kZipDirectoryBytes, nameSize)), .executable = (mode & S_IXUSR) != 0};
    entry.kind = kindOf(entry.name, mode);
    entry.flags = static_cast<std::uint16_t>(zipNumber(rest, 8, 2));
    entry.method = static_cast<std::uint16_t>(zipNumber(rest, 10, 2));
    entry.crc = static_cast<std::uint32_t>(zipNumber(rest, 16, 4));
    entry.compressedSize = zipNumber(rest, 20, 4);
    entry.size = zipNumber(rest, 24, 4);
    entry.offset = zipNumber(rest, 42, 4);
    if (!applyZip64(extra, {&entry.size, &entry.compressedSize, &entry.offset}) || zipNumber(rest, 34, 2) != 0)
        return corruptArchive("the zip's directory is damaged", entry.name);
    if (std::string fault = refusal(entry); !fault.empty())
        return corruptArchive(std::move(fault), entry.name);
    const auto contentEnd = checkLocal(entry);
    if (!contentEnd)
        return std::unexpected(contentEnd.error());
    entry.contentEnd = *contentEnd;
    if (auto unicode = zipUnicodeName(extra, entry.name); unicode && (entry.flags & kZipUtf8Name) == 0)
        entry.name = std::move(*unicode);
    rest.remove_prefix(total);
    return entry;
}

Result<std::vector<ZipEntry>> Reader::readEntries(const DirectoryPlace& place) const
{
    const auto directory = readExactly(m_fd, place.offset, place.size);
    if (!directory)
        return std::unexpected(directory.error());
    std::string_view rest = *directory;
    std::vector<ZipEntry> entries;
    while (!rest.empty() && entries.size() < place.entries) {
        auto entry = readEntry(rest);
        if (!entry)
            return forward(entry);
        entries.push_back(std::move(*entry));
    }
    if (!rest.empty() || entries.size() != place.entries)
        return corruptArchive("the zip's directory has another number of entries than its end record says");
    return entries;
}

bool agrees(std::uint64_t local, std::uint64_t directory, bool hasDescriptor)
{
    return local == directory || (hasDescriptor && local == 0);
}

Result<std::uint64_t> Reader::checkLocal(const ZipEntry& entry) const
{
    const auto header = readExactly(m_fd, entry.offset, kZipLocalBytes);
    if (!header)
        return std::unexpected(header.error());
    if (zipNumber(*header, 0, 4) != kZipLocalHeader)
        return corruptArchive("the zip's directory points at no local header", entry.name);
    const std::size_t nameSize = zipNumber(*header, 26, 2);
    const std::size_t extraSize = zipNumber(*header, 28, 2);
    const auto names = readExactly(m_fd, entry.offset + kZipLocalBytes, nameSize + extraSize);
    if (!names)
        return std::unexpected(names.error());
    std::uint64_t size = zipNumber(*header, 22, 4);
    std::uint64_t compressedSize = zipNumber(*header, 18, 4);
    const bool hasDescriptor = (entry.flags & kZipHasDescriptor) != 0;
    const bool isReadable = applyZip64(std::string_view(*names).substr(nameSize), {&size, &compressedSize, nullptr});
    const bool isSame =
        ((zipNumber(*header, 6, 2) ^ entry.flags) & kComparedFlags) == 0 && zipNumber(*header, 8, 2) == entry.method &&
        agrees(zipNumber(*header, 14, 4), entry.crc, hasDescriptor) && agrees(size, entry.size, hasDescriptor) &&
        agrees(compressedSize, entry.compressedSize, hasDescriptor) &&
        std::string_view(*names).substr(0, nameSize) == entry.name;
    if (!isReadable || !isSame)
        return corruptArchive("the local header contradicts the zip's directory", entry.name);
    return entry.offset + kZipLocalBytes + nameSize + extraSize + entry.compressedSize;
}

/// The record behind the content: a signature or none, the checksum, and two sizes of 32 or 64 bits.
Result<void> Reader::checkDescriptor(const ZipEntry& entry, std::uint64_t from, std::uint64_t to) const
{
    constexpr std::array<std::uint64_t, 4> sizes{12, 16, 20, 24};
    if (!std::ranges::contains(sizes, to - from))
        return corruptArchive("the entry's data descriptor is missing or damaged", entry.name);
    const auto record = readExactly(m_fd, from, to - from);
    if (!record)
        return std::unexpected(record.error());
    const std::size_t width = to - from >= 20 ? 8 : 4;
    const std::size_t start = (to - from) - 4 - 2 * width;
    const bool isSame = (start == 0 || zipNumber(*record, 0, 4) == kZipDescriptor) &&
                        zipNumber(*record, start, 4) == entry.crc &&
                        zipNumber(*record, start + 4, width) == entry.compressedSize &&
                        zipNumber(*record, start + 4 + width, width) == entry.size;
    return isSame ? Result<void>()
                  : corruptArchive("the entry's data descriptor contradicts the zip's directory", entry.name);
}

/// Entries, sorted by offset, follow each other from byte 0 to the directory: nothing before, between, or twice.
Result<void> Reader::checkTiling(const std::vector<ZipEntry>& entries, std::uint64_t directory) const
{
    if (entries.empty())
        return directory == 0 ? Result<void>() : corruptArchive("bytes stand before the zip's directory");
    if (entries.front().offset != 0)
        return corruptArchive("bytes stand before the zip's first entry");
    for (std::size_t i = 0; i < entries.size(); ++i) {
        const ZipEntry& entry = entries[i];
        const std::uint64_t end = entry.contentEnd;
        const std::uint64_t next = i + 1 < entries.size() ? entries[i + 1].offset : directory;
        if (end > next)
            return corruptArchive("the entry overlaps what follows it", entry.name);
        if ((entry.flags & kZipHasDescriptor) != 0) {
            if (auto fine = checkDescriptor(entry, end, next); !fine)
                return fine;
        } else if (end != next) {
            return corruptArchive("bytes that belong to no entry follow this one", entry.name);
        }
    }
    return {};
}

Result<std::vector<ZipEntry>> Reader::read()
{
    if (m_fileSize < kZipEndBytes)
        return corruptArchive("the file is too short for a zip");
    const auto place = findDirectory();
    if (!place)
        return std::unexpected(place.error());
    if (auto fine = checkPlace(*place); !fine)
        return forward(fine);
    auto entries = readEntries(*place);
    if (!entries)
        return entries;
    std::ranges::stable_sort(*entries, {}, &ZipEntry::offset);
    if (auto fine = checkTiling(*entries, place->offset); !fine)
        return forward(fine);
    return entries;
}

} // namespace

Result<std::vector<ZipEntry>> readZipDirectory(int fd, std::uint64_t fileSize, std::uint64_t maxEntries)
{
    return Reader(fd, fileSize, maxEntries).read();
}

} // namespace assay::registry
