// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/registry/archive_intake.h"

#include <memory>
#include <string>

struct archive;

namespace assay::registry {

struct ArchiveCloser
{
    void operator()(struct archive* archive) const;
};
using ArchiveReader = std::unique_ptr<struct archive, ArchiveCloser>;

/// Copies the content of the entry that was just read into `intake`, which has begun the file. `corrupt_archive` when
/// libarchive cannot read it cleanly.
Result<void> copyContent(struct archive* archive, const std::string& path, ArchiveIntake& intake);

/// libarchive's last message, fit to show.
std::string archiveMessage(struct archive* archive);

} // namespace assay::registry
