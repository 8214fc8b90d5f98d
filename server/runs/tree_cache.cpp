// SPDX-License-Identifier: Apache-2.0
#include "server/runs/tree_cache.h"

#include "server/runs/tree_writer.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <format>
#include <sys/stat.h>
#include <unistd.h>

namespace assay::runs {

namespace {

constexpr std::chrono::seconds kBuildDeadline{60};

std::uint64_t quarterOfMemory()
{
    const auto pages = ::sysconf(_SC_PHYS_PAGES);
    const auto size = ::sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(size) / 4 : 0;
}

/// One name for a server's data directory, which tells nothing of where that is.
std::string memoryName(int disk)
{
    struct stat info{};
    (void)::fstat(disk, &info);
    const auto place = std::format("{}:{}", info.st_dev, info.st_ino);
    return std::format("assay-{}-{}", ::geteuid(), Digest::ofBytes(place).hex().substr(0, 16));
}

std::string inMebibytes(std::uint64_t bytes) { return std::format("{} MiB", bytes >> 20); }

} // namespace

struct TreeLease::Entry
{
    enum class Stage : std::uint8_t { Building, Ready, Failed };
    TreeKey key;
    Stage stage = Stage::Building;
    bool doomed = false;
    unsigned leases = 0;
    TreeCache::Room* room = nullptr;
    std::uint64_t held = 0;  ///< of the room's bytes
    std::uint64_t bytes = 0; ///< of the files
    std::uint64_t lastUse = 0;
    std::chrono::steady_clock::time_point usedAt;
    std::string name; ///< below the scope's folder
    std::filesystem::path path;

    std::string relative() const { return std::format("{}/{}", key.scopeFingerprint, name); }
};

TreeLease::TreeLease(TreeCache& cache, std::shared_ptr<Entry> entry, bool hit)
    : m_cache(&cache), m_entry(std::move(entry)), m_hit(hit)
{}

TreeLease::~TreeLease()
{
    if (m_entry)
        m_cache->giveBack(m_entry);
}

const std::filesystem::path& TreeLease::path() const { return m_entry->path; }
std::uint64_t TreeLease::bytes() const { return m_entry->bytes; }

TreeCache::TreeCache(std::unique_ptr<TreeRoom> disk, std::uint64_t diskBytes) : m_disk{std::move(disk), diskBytes} {}

TreeCache::~TreeCache() = default;

Result<std::unique_ptr<TreeCache>> TreeCache::open(const TreeCacheOptions& options)
{
    auto disk = TreeRoom::onDisk(options.directory);
    if (!disk)
        return forward(disk);
    std::unique_ptr<TreeCache> cache(new TreeCache(std::move(*disk), options.diskBytes));
    cache->takeMemory(std::min(options.memoryBytes, quarterOfMemory()));
    return cache;
}

void TreeCache::takeMemory(std::uint64_t bytes)
{
    if (bytes == 0)
        return;
    if (auto memory = TreeRoom::inMemory(memoryName(m_disk.room->folder()), bytes))
        m_memory = {std::move(*memory), bytes};
}

std::string TreeCache::describe() const
{
    if (!m_memory.room)
        return std::format("packages for boxes are kept on disk, at most {}", inMebibytes(m_disk.limit));
    const bool isPrivate = m_memory.room->kind() == TreeRoom::Kind::PrivateMemory;
    return std::format("packages for boxes are kept in {}, at most {}; what does not fit goes to disk, at most {}",
                       isPrivate ? "memory that only this server sees"
                                 : "a folder of this server's user in the machine's memory",
                       inMebibytes(m_memory.limit), inMebibytes(m_disk.limit));
}

Result<TreeLease> TreeCache::acquire(const TreeKey& key, const Fetch& fetch,
                                     const std::optional<std::uint64_t>& footprint)
{
    const auto deadline = std::chrono::steady_clock::now() + kBuildDeadline;
    std::unique_lock lock(m_mutex);
    for (auto found = m_entries.find(key); found != m_entries.end(); found = m_entries.find(key)) {
        const auto entry = found->second;
        if (entry->stage == Entry::Stage::Ready) {
            ++entry->leases;
            ++m_counts.hits;
            entry->lastUse = ++m_uses;
            entry->usedAt = std::chrono::steady_clock::now();
            return TreeLease(*this, entry, true);
        }
        if (m_built.wait_until(lock, deadline) == std::cv_status::timeout)
            return fail(ErrorCode::Unavailable, "another run has been materializing the same package for a minute");
    }
    ++m_counts.misses;
    const auto entry = std::make_shared<Entry>();
    entry->key = key;
    entry->name = std::format("{}-{}", key.digest.hex(), ++m_nextNumber);
    m_entries.emplace(key, entry);
    Entries evicted;
    admit(*entry, footprint, evicted);
    lock.unlock();
    removeTrees(evicted); // before the new one comes: it was admitted to their place
    evicted.clear();
    auto extracted = extract(*entry, fetch);
    lock.lock();
    entry->stage = extracted ? Entry::Stage::Ready : Entry::Stage::Failed;
    entry->leases = 1;
    entry->lastUse = ++m_uses;
    entry->usedAt = std::chrono::steady_clock::now();
    if (!extracted)
        m_entries.erase(key);
    evict(m_disk, 0, evicted);
    m_built.notify_all();
    lock.unlock();
    removeTrees(evicted);
    if (!extracted)
        return forward(extracted);
    return TreeLease(*this, entry, false);
}

std::uint64_t TreeCache::unusedBytes(const Room& room) const
{
    std::uint64_t out = 0;
    for (const auto& [key, entry] : m_entries)
        if (entry->room == &room && entry->stage == Entry::Stage::Ready && entry->leases == 0)
            out += entry->held;
    return out;
}

/// Under the lock. What is held of the room counts from now on.
void TreeCache::admit(Entry& entry, const std::optional<std::uint64_t>& footprint, Entries& evicted)
{
    entry.room = &m_disk;
    if (!m_memory.room || !footprint || *footprint > m_memory.limit)
        return;
    const bool fits = m_memory.held + *footprint <= m_memory.limit + unusedBytes(m_memory);
    if (!fits)
        return;
    evict(m_memory, *footprint, evicted);
    entry.room = &m_memory;
    settle(entry, *footprint);
}

/// Under the lock.
void TreeCache::settle(Entry& entry, std::uint64_t bytes)
{
    entry.room->held += bytes - entry.held;
    entry.held = bytes;
}

/// Under the lock: takes the least recently used trees out until `needed` bytes fit, or all of the rest is in use.
void TreeCache::evict(Room& room, std::uint64_t needed, Entries& evicted)
{
    while (room.held + needed > room.limit) {
        auto oldest = m_entries.end();
        for (auto each = m_entries.begin(); each != m_entries.end(); ++each) {
            const auto& entry = *each->second;
            if (entry.room == &room && entry.stage == Entry::Stage::Ready && entry.leases == 0 &&
                (oldest == m_entries.end() || entry.lastUse < oldest->second->lastUse))
                oldest = each;
        }
        if (oldest == m_entries.end())
            return;
        settle(*oldest->second, 0);
        evicted.push_back(oldest->second);
        m_entries.erase(oldest);
    }
}

Result<void> TreeCache::extract(Entry& entry, const Fetch& fetch)
{
    bool couldNotWrite = false;
    auto written = writeTo(entry, fetch, couldNotWrite);
    if (!written && couldNotWrite && entry.room == &m_memory)
        return extractElsewhere(entry, fetch);
    const std::lock_guard lock(m_mutex);
    if (!written || entry.room == &m_disk)
        settle(entry, entry.bytes);
    return written;
}

/// The machine's memory may be full of what others keep in it.
Result<void> TreeCache::extractElsewhere(Entry& entry, const Fetch& fetch)
{
    {
        const std::lock_guard lock(m_mutex);
        settle(entry, 0);
        entry.room = &m_disk;
    }
    return extract(entry, fetch);
}

Result<void> TreeCache::writeTo(Entry& entry, const Fetch& fetch, bool& couldNotWrite)
{
    const int root = entry.room->room->folder();
    if (::mkdirat(root, entry.key.scopeFingerprint.c_str(), 0700) != 0 && errno != EEXIST)
        return failErrno("mkdirat of a scope in the package cache", errno);
    const auto final = entry.relative();
    const auto fresh = final + ".new";
    entry.path = entry.room->room->path() / final;
    if (::mkdirat(root, fresh.c_str(), 0700) != 0)
        return failErrno("mkdirat in the package cache", errno);
    const UniqueFd tree(::openat(root, fresh.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    auto written = tree ? writeInto(tree.get(), entry, fetch, couldNotWrite)
                        : Result<void>(failErrno("openat in the package cache", errno));
    if (written && ::renameat(root, fresh.c_str(), root, final.c_str()) != 0)
        written = failErrno("renameat in the package cache", errno);
    if (!written) {
        entry.bytes = 0;
        (void)removeTree(root, fresh.c_str());
    }
    return written;
}

Result<void> TreeCache::writeInto(int tree, Entry& entry, const Fetch& fetch, bool& couldNotWrite)
{
    TreeWriter writer(tree);
    auto fetched = fetch([&](std::string_view piece) {
        auto added = writer.add(piece);
        couldNotWrite = !added;
        return added;
    });
    if (!fetched)
        return fetched;
    auto bytes = writer.finish();
    if (!bytes)
        return forward(bytes);
    entry.bytes = *bytes;
    return {};
}

void TreeCache::giveBack(const std::shared_ptr<Entry>& entry)
{
    std::unique_lock lock(m_mutex);
    --entry->leases;
    Entries gone;
    evict(m_disk, 0, gone);
    if (entry->doomed && entry->leases == 0) {
        settle(*entry, 0);
        gone.push_back(entry);
    }
    lock.unlock();
    removeTrees(gone);
}

store::Removed TreeCache::sweep(std::chrono::milliseconds unusedFor, store::Removal removal)
{
    const auto before = std::chrono::steady_clock::now() - unusedFor;
    store::Removed out;
    Entries gone;
    {
        const std::lock_guard lock(m_mutex);
        for (auto each = m_entries.begin(); each != m_entries.end();) {
            const auto& entry = *each->second;
            const bool isOld = entry.stage == Entry::Stage::Ready && entry.leases == 0 && entry.usedAt <= before;
            if (isOld) {
                ++out.count;
                out.bytes += entry.bytes;
            }
            if (!isOld || removal == store::Removal::CountOnly) {
                ++each;
                continue;
            }
            settle(*each->second, 0);
            gone.push_back(each->second);
            each = m_entries.erase(each);
        }
    }
    removeTrees(gone);
    return out;
}

void TreeCache::drop(const TreeKey& key)
{
    std::unique_lock lock(m_mutex);
    const auto found = m_entries.find(key);
    if (found == m_entries.end() || found->second->stage != Entry::Stage::Ready)
        return;
    const auto entry = found->second;
    m_entries.erase(found);
    ++m_counts.dropped;
    entry->doomed = true;
    const bool unused = entry->leases == 0;
    if (unused)
        settle(*entry, 0);
    lock.unlock();
    if (unused)
        removeTrees({entry});
}

void TreeCache::removeTrees(const Entries& entries)
{
    // A tree that cannot be removed is set aside by the next start; it is never handed out again.
    for (const auto& entry : entries)
        (void)removeTree(entry->room->room->folder(), entry->relative().c_str());
}

TreeCache::Counts TreeCache::counts() const
{
    const std::lock_guard lock(m_mutex);
    Counts out = m_counts;
    out.bytes = m_disk.held + m_memory.held;
    out.memoryBytes = m_memory.held;
    out.trees = m_entries.size();
    return out;
}

} // namespace assay::runs
