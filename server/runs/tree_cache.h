// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/digest.h"
#include "server/core/unique_fd.h"
#include "server/store/package_store.h"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

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

/// Extracted, sealed package trees on disk, evicted least recently used first above a number of bytes. The bytes of a
/// tree come from a bundle whose digest was verified; what a box sees of it is verified again from inside. Nothing is
/// kept over a restart. Thread-safe; must outlive its leases.
class TreeCache
{
public:
    using Fetch = std::function<Result<store::Bundle>()>;

    /// Empties and takes `directory` (made if need be, mode 0700); what an earlier process left is removed in the
    /// background.
    static Result<std::unique_ptr<TreeCache>> open(const std::filesystem::path& directory, std::uint64_t limitBytes);
    ~TreeCache();

    /// The tree of `key`, extracted from what `fetch` gives when it is not there. Callers that want the same tree at
    /// once wait for the first, at most 60 s. Passes on `fetch`'s error; nothing of a failed extraction stays.
    Result<TreeLease> acquire(const TreeKey& key, const Fetch& fetch);

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
        std::uint64_t bytes = 0; ///< held now
        std::size_t trees = 0;
    };
    Counts counts() const;

private:
    friend class TreeLease;
    using Entry = TreeLease::Entry;
    TreeCache(std::filesystem::path directory, std::uint64_t limitBytes);
    Result<void> extract(const TreeKey& key, Entry& entry, const Fetch& fetch);
    Result<void> writeInto(Entry& entry, const std::string& scope, const std::string& name, std::string_view stream);
    void giveBack(const std::shared_ptr<Entry>& entry);
    std::list<std::shared_ptr<Entry>> takeEvicted();
    void removeFromDisk(const Entry& entry);
    void removeLeftovers();

    std::filesystem::path m_directory;
    std::uint64_t m_limitBytes;
    UniqueFd m_root;
    mutable std::mutex m_mutex;
    std::condition_variable m_built;
    std::map<TreeKey, std::shared_ptr<Entry>> m_entries;
    Counts m_counts;
    std::uint64_t m_nextNumber = 0;
    std::uint64_t m_uses = 0;
    std::jthread m_cleaner;
};

} // namespace assay::runs
