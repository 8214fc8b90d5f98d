// SPDX-License-Identifier: Apache-2.0
#include "server/registry/zip_reader.h"

#include "server/registry/archive_fault.h"
#include "server/registry/entry_copy.h"
#include "server/registry/locale_scope.h"
#include "server/registry/zip_directory.h"

#include <archive.h>
#include <archive_entry.h>

namespace assay::registry {

namespace {

constexpr std::size_t kBlock = 64 << 10;

std::unexpected<Error> unreadable(struct archive* archive)
{
    return corruptArchive("the zip cannot be read: " + archiveMessage(archive));
}

Result<void> takeFile(struct archive* archive, const ZipEntry& entry, ArchiveIntake& intake)
{
    const auto fate = intake.beginFile(entry.name, entry.size, entry.executable);
    if (!fate)
        return std::unexpected(fate.error());
    return *fate == ArchiveIntake::Fate::Skip ? Result<void>() : copyContent(archive, entry.name, intake);
}

Result<void> takeEntry(struct archive* archive, const ZipEntry& entry, ArchiveIntake& intake)
{
    switch (entry.kind) {
    case ZipEntry::Kind::File:
        return takeFile(archive, entry, intake);
    case ZipEntry::Kind::Folder:
        return intake.addFolder(entry.name);
    case ZipEntry::Kind::Other:
        break;
    }
    return intake.addLink(entry.name, "a link or device");
}

} // namespace

Result<void> readZip(int fd, std::uint64_t fileSize, const PackageLimits& limits, ArchiveIntake& intake)
{
    const auto entries = readZipDirectory(fd, fileSize, maxArchiveEntries(limits));
    if (!entries)
        return std::unexpected(entries.error());
    if (entries->empty())
        return {};
    const Utf8LocaleScope locale;
    const ArchiveReader reader(archive_read_new());
    if (!reader)
        return fail(ErrorCode::Unavailable, "the server is out of memory; try again later");
    archive_read_support_filter_none(reader.get());
    archive_read_support_format_zip_seekable(reader.get());
    if (archive_read_open_fd(reader.get(), fd, kBlock) != ARCHIVE_OK)
        return unreadable(reader.get());
    // libarchive, too, walks the entries by their offsets: entry for entry, both readers must see the same.
    for (const ZipEntry& entry : *entries) {
        struct archive_entry* found = nullptr;
        const int status = archive_read_next_header(reader.get(), &found);
        if (status != ARCHIVE_OK && status != ARCHIVE_WARN)
            return unreadable(reader.get());
        if (entry.kind == ZipEntry::Kind::File && static_cast<std::uint64_t>(archive_entry_size(found)) != entry.size)
            return corruptArchive("the entry has two sizes", entry.name);
        if (auto taken = takeEntry(reader.get(), entry, intake); !taken)
            return taken;
    }
    struct archive_entry* extra = nullptr;
    if (archive_read_next_header(reader.get(), &extra) != ARCHIVE_EOF)
        return corruptArchive("the zip has more entries than its directory");
    return {};
}

} // namespace assay::registry
