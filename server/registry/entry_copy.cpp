// SPDX-License-Identifier: Apache-2.0
#include "server/registry/entry_copy.h"

#include "server/registry/archive_fault.h"

#include <archive.h>

namespace assay::registry {

void ArchiveCloser::operator()(struct archive* archive) const { archive_read_free(archive); }

std::string archiveMessage(struct archive* archive)
{
    const char* text = archive_error_string(archive);
    return text ? inQuotes(text) : "it is damaged";
}

Result<void> copyContent(struct archive* archive, const std::string& path, ArchiveIntake& intake)
{
    std::uint64_t done = 0;
    for (;;) {
        const void* data = nullptr;
        std::size_t size = 0;
        la_int64_t offset = 0;
        const int status = archive_read_data_block(archive, &data, &size, &offset);
        if (status == ARCHIVE_EOF)
            return intake.endFile();
        if (status != ARCHIVE_OK)
            return corruptArchive("the file cannot be unpacked: " + archiveMessage(archive), path);
        if (size == 0)
            continue;
        if (offset < 0 || static_cast<std::uint64_t>(offset) != done)
            return corruptArchive("the file has holes", path);
        if (auto added = intake.addContent({static_cast<const char*>(data), size}); !added)
            return added;
        done += size;
    }
}

} // namespace assay::registry
