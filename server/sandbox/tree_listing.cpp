// SPDX-License-Identifier: Apache-2.0
#include "server/sandbox/tree_listing.h"

#include "server/sandbox/channel/payload.h"

#include <algorithm>
#include <array>
#include <cerrno>

namespace assay::sandbox {

using channel::EntryKind;
using channel::FrameType;

namespace {

constexpr std::chrono::seconds kDeadline{60};

bool readEntry(std::string_view payload, channel::Hashing hashing, TreeEntry& entry)
{
    channel::PayloadReader reader(payload);
    entry.kind = static_cast<EntryKind>(reader.number<std::uint8_t>());
    entry.mode = reader.number<std::uint32_t>();
    entry.sizeBytes = reader.number<std::uint64_t>();
    const std::string_view hash = reader.text();
    entry.path = reader.text();
    if (!reader.finished() || entry.path.empty() || entry.path.size() > channel::kMaxPathBytes ||
        entry.kind < EntryKind::File || entry.kind > EntryKind::TooDeep)
        return false;
    const bool wantsHash = hashing == channel::Hashing::On && entry.kind == EntryKind::File;
    if (hash.empty())
        return !wantsHash;
    auto digest = Digest::fromBytes(hash);
    if (digest)
        entry.sha256 = *digest;
    return wantsHash && digest.has_value();
}

/// The end of a listing that could not begin.
bool readFailure(std::string_view payload, TreeListing& listing)
{
    channel::PayloadReader reader(payload);
    const auto error = static_cast<int>(reader.number<std::uint32_t>());
    listing.isThere = error != ENOENT;
    listing.isFolder = false;
    return reader.ok();
}

bool readEnd(std::string_view payload, TreeListing& listing)
{
    channel::PayloadReader reader(payload);
    const auto flags = reader.number<std::uint8_t>();
    const auto count = reader.number<std::uint32_t>();
    listing.truncated = (flags & channel::kWalkTruncated) != 0;
    listing.allReadOnly = (flags & channel::kWalkAllReadOnly) != 0;
    return reader.finished() && count == listing.entries.size();
}

} // namespace

Result<TreeListing> listTree(channel::Client& client, std::uint32_t stream, channel::WalkRoot root,
                             channel::Hashing hashing, std::uint32_t maxEntries)
{
    std::array<char, 8> buffer;
    channel::PayloadWriter request(buffer);
    request.number(static_cast<std::uint8_t>(root)).number(static_cast<std::uint8_t>(hashing)).number(maxEntries);
    if (auto sent = client.send(FrameType::Walk, stream, request.view()); !sent)
        return forward(sent);
    TreeListing listing;
    const auto deadline = std::chrono::steady_clock::now() + kDeadline;
    for (;;) {
        auto frame = client.next(deadline);
        if (!frame)
            return forward(frame);
        if (!*frame || (*frame)->stream != stream || listing.entries.size() > maxEntries)
            return client.breakOff("listing: out of turn or out of time");
        const auto& [type, ofStream, payload] = **frame;
        if (type == FrameType::Entry) {
            if (!readEntry(payload, hashing, listing.entries.emplace_back()))
                return client.breakOff("listing: malformed entry");
            continue;
        }
        const bool ended = (type == FrameType::WalkEnd && readEnd(payload, listing)) ||
                           (type == FrameType::Failed && listing.entries.empty() && readFailure(payload, listing));
        if (!ended)
            return client.breakOff("listing: malformed end");
        std::ranges::sort(listing.entries, {}, &TreeEntry::path);
        return listing;
    }
}

} // namespace assay::sandbox
