// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/sandbox/init/link.h"

#include <sys/types.h>

namespace assay::sandbox::init {

/// Lists a tree to the server, one Entry a name, in the file system's order; hashes the files when asked (SHA-256).
/// Follows no link, opens no special file, goes at most `channel::kMaxWalkDepth` folders deep.
class TreeWalk
{
public:
    TreeWalk(Link& link, std::uint32_t stream, channel::Hashing hashing, std::uint32_t maxEntries);

    /// Walks from an open folder, then sends WalkEnd. The descriptor stays the caller's.
    void run(int folder);

private:
    static constexpr std::size_t kHashBytes = 32;

    void visitFolder(int folder, std::size_t pathLength, std::uint32_t depth);
    void visitName(int folder, const char* name, std::size_t pathLength, std::uint32_t depth);
    void enterFolder(int folder, const char* name, std::size_t pathLength, std::uint32_t depth, mode_t mode);
    channel::EntryKind hashFile(int folder, const char* name);
    void sendEntry(channel::EntryKind kind, mode_t mode, std::uint64_t size, std::size_t pathLength);
    void noteMount(int folder);
    bool mayGoOn() const;

    Link& m_link;
    std::uint32_t m_stream;
    channel::Hashing m_hashing;
    std::uint32_t m_maxEntries;
    std::uint32_t m_entries = 0;
    std::uint8_t m_flags = channel::kWalkAllReadOnly;
    unsigned char m_hash[kHashBytes] = {};
    char m_path[channel::kMaxPathBytes];
};

} // namespace assay::sandbox::init
