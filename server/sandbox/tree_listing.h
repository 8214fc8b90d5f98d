// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/digest.h"
#include "server/sandbox/channel/client.h"

namespace assay::sandbox {

/// One name below a tree of the box, as its init sees it.
struct TreeEntry
{
    std::string path; ///< relative; any bytes a file system allows, cut at 4096
    channel::EntryKind kind{};
    std::uint32_t mode = 0; ///< permission bits
    std::uint64_t sizeBytes = 0;
    Digest sha256; ///< with hashing, of a File
};

struct TreeListing
{
    std::vector<TreeEntry> entries; ///< in the byte order of their paths
    bool isThere = true;            ///< false: there is no such folder
    bool isFolder = true;           ///< false: something else has its name
    bool truncated = false;         ///< more than `maxEntries`
    bool allReadOnly = false;       ///< every folder lies on a read-only mount
};

/// Asks the init for a listing. `Unavailable` when the channel ends, speaks out of turn or takes over a minute.
Result<TreeListing> listTree(channel::Client& client, std::uint32_t stream, channel::WalkRoot root,
                             channel::Hashing hashing, std::uint32_t maxEntries);

} // namespace assay::sandbox
