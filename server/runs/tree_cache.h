// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/digest.h"
#include "server/runs/tree_room.h"
#include "server/store/package_store.h"

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace assay::runs {

/// What tells one cached tree from another (R12). Another scope's tree of the same digest is another tree.
struct TreeKey
{
    std::string scopeFingerprint;
    std::string storeIdentity;
    Digest digest;
    auto operator<=>(const TreeKey&) const = default;
};

class TreeCache;

/// Holds one tree in the cache: it is neither evicted nor changed while a lease is alive. Movable.
class TreeLease
{
public:
    TreeLease(TreeLease&& other) noexcept = default;
    TreeLease& operator=(TreeLease&&) = delete;
    ~TreeLease();
    const std::filesystem::path& path() const;
    bool wasHit() const { return m_hit; }
    std::uint64_t bytes() const;

private:
    friend class TreeCache;
    struct Entry;
    TreeLease(TreeCache& cache, std::shared_ptr<Entry> entry, bool hit);
    TreeCache* m_cache;
    std::shared_ptr<Entry> m_entry;
    bool m_hit;
};

struct TreeCacheOptions
{
    std::filesystem::path directory; ///< on disk; taken by this cache alone
    std::uint64_t diskBytes = 2ULL << 30;
    std::uint64_t memoryBytes = 0; ///< never more than a quarter of the machine's memory; 0: disk only
};

/// Extracted, sealed package trees, in memory as far as they fit beside those in use, else on disk; evicted least
/// recently used first above a number of bytes for each. The bytes of a tree come from a bundle whose digest was
/// verified; what a box sees of it is verified again from inside. Nothing is kept over a restart. Thread-safe; must
/// outlive its leases.
class TreeCache
{
public:
    /// Gives the pieces of a bundle, as store::SkillPackageStore::read does.
    using Fetch = std::function<Result<void>(const store::PieceSink& each)>;

    /// Takes the directory (made if need be, mode 0700). Without a place in memory it works on disk alone.
    static Result<std::unique_ptr<TreeCache>> open(const TreeCacheOptions& options);
    ~TreeCache();

    /// The tree of `key`, extracted from what `fetch` gives when it is not there. `footprint` is what it will take in
    /// memory (`footprintOf`); unknown, it goes to the disk. Callers that want the same tree at once wait for the
    /// first, at most 60 s. Passes on `fetch`'s error; nothing of a failed extraction stays.
    Result<TreeLease> acquire(const TreeKey& key, const Fetch& fetch,
                              const std::optional<std::uint64_t>& footprint = std::nullopt);

    /// What a tree of files of these sizes takes in a file system in memory: whole pages, at least one.
    template <typename Sizes> static std::uint64_t footprintOf(const Sizes& sizes)
    {
        constexpr std::uint64_t kPage = 4096;
        std::uint64_t total = kPage;
        for (const std::uint64_t size : sizes)
            total += (size / kPage + 1) * kPage;
        return total;
    }

    /// Never hands this tree out again: a box saw other bytes than the manifest pins. It is removed with its last
    /// lease.
    void drop(const TreeKey& key);

    /// Removes, or counts, the trees without a lease that nobody has taken for `unusedFor`.
    store::Removed sweep(std::chrono::milliseconds unusedFor, store::Removal removal);

    struct Counts
    {
        std::uint64_t hits = 0;
        std::uint64_t misses = 0;
        std::uint64_t dropped = 0;
        std::uint64_t bytes = 0; ///< held now, in memory and on disk
        std::uint64_t memoryBytes = 0;
        std::size_t trees = 0;
    };
    Counts counts() const;

    /// For the operator: where trees are kept and how many bytes of them; no path.
    std::string describe() const;

private:
    friend class TreeLease;
    using Entry = TreeLease::Entry;
    using Entries = std::list<std::shared_ptr<Entry>>;
    struct Room
    {
        std::unique_ptr<TreeRoom> room;
        std::uint64_t limit = 0;
        std::uint64_t held = 0;
    };
    TreeCache(std::unique_ptr<TreeRoom> disk, std::uint64_t diskBytes);
    void takeMemory(std::uint64_t bytes);
    Result<void> extract(Entry& entry, const Fetch& fetch);
    Result<void> extractElsewhere(Entry& entry, const Fetch& fetch);
    Result<void> writeTo(Entry& entry, const Fetch& fetch, bool& couldNotWrite);
    Result<void> writeInto(int tree, Entry& entry, const Fetch& fetch, bool& couldNotWrite);
    void giveBack(const std::shared_ptr<Entry>& entry);
    void admit(Entry& entry, const std::optional<std::uint64_t>& footprint, Entries& evicted);
    void evict(Room& room, std::uint64_t needed, Entries& evicted);
    std::uint64_t unusedBytes(const Room& room) const;
    void settle(Entry& entry, std::uint64_t bytes);
    static void removeTrees(const Entries& entries);

    Room m_disk;
    Room m_memory; ///< without a room when there is none
    mutable std::mutex m_mutex;
    std::condition_variable m_built;
    std::map<TreeKey, std::shared_ptr<Entry>> m_entries;
    Counts m_counts;
    std::uint64_t m_nextNumber = 0;
    std::uint64_t m_uses = 0;
};

} // namespace assay::runs
