// SPDX-License-Identifier: Apache-2.0
#include "server/runs/tree_cache.h"

#include "server/core/file_io.h"
#include "server/runs/tree_writer.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <format>
#include <sys/stat.h>

namespace assay::runs {

namespace {

constexpr const char* kTrees = "trees";
constexpr std::string_view kStale = "stale-";
constexpr std::chrono::seconds kBuildDeadline{60};

} // namespace

struct TreeLease::Entry
{
    enum class Stage : std::uint8_t { Building, Ready, Failed };
    TreeKey key;
    Stage stage = Stage::Building;
    bool doomed = false;
    unsigned leases = 0;
    std::uint64_t bytes = 0;
    std::uint64_t lastUse = 0;
    std::chrono::steady_clock::time_point usedAt;
    std::string scopeFolder; ///< below the cache's root
    std::string name;        ///< below the scope's folder
    std::filesystem::path path;
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

TreeCache::TreeCache(std::filesystem::path directory, std::uint64_t limitBytes)
    : m_directory(std::move(directory)), m_limitBytes(limitBytes)
{}

TreeCache::~TreeCache() = default;

Result<std::unique_ptr<TreeCache>> TreeCache::open(const std::filesystem::path& directory, std::uint64_t limitBytes)
{
    std::unique_ptr<TreeCache> cache(new TreeCache(directory, limitBytes));
    std::error_code code;
    std::filesystem::create_directories(directory, code);
    if (code)
        return failErrno("making the package cache's folder", code.value());
    auto root = openFile(directory, O_RDONLY | O_DIRECTORY);
    if (!root)
        return forward(root);
    cache->m_root = std::move(*root);
    const int fd = cache->m_root.get();
    if (::fchmod(fd, 0700) != 0)
        return failErrno("fchmod of the package cache", errno);
    const auto stale = std::format("{}{}", kStale, std::chrono::steady_clock::now().time_since_epoch().count());
    if (::renameat(fd, kTrees, fd, stale.c_str()) != 0 && errno != ENOENT)
        return failErrno("setting the old package cache aside", errno);
    if (::mkdirat(fd, kTrees, 0700) != 0)
        return failErrno("mkdirat in the package cache", errno);
    cache->m_cleaner = std::jthread([self = cache.get()] { self->removeLeftovers(); });
    return cache;
}

void TreeCache::removeLeftovers()
{
    std::error_code code;
    for (std::filesystem::directory_iterator each(m_directory, code), end; !code && each != end; each.increment(code)) {
        const auto name = each->path().filename().string();
        // What cannot be removed now is met again by the next start.
        if (name.starts_with(kStale))
            (void)removeTree(m_root.get(), name.c_str());
    }
}

Result<TreeLease> TreeCache::acquire(const TreeKey& key, const Fetch& fetch)
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
    entry->scopeFolder = key.scopeFingerprint;
    entry->name = std::format("{}-{}", key.digest.hex(), ++m_nextNumber);
    m_entries.emplace(key, entry);
    lock.unlock();
    auto extracted = extract(key, *entry, fetch);
    lock.lock();
    entry->stage = extracted ? Entry::Stage::Ready : Entry::Stage::Failed;
    entry->leases = 1;
    entry->lastUse = ++m_uses;
    entry->usedAt = std::chrono::steady_clock::now();
    m_counts.bytes += entry->bytes;
    if (!extracted)
        m_entries.erase(key);
    const auto evicted = takeEvicted();
    m_built.notify_all();
    lock.unlock();
    for (const auto& old : evicted)
        removeFromDisk(*old);
    if (!extracted)
        return forward(extracted);
    return TreeLease(*this, entry, false);
}

Result<void> TreeCache::extract(const TreeKey& key, Entry& entry, const Fetch& fetch)
{
    const auto bundle = fetch();
    if (!bundle)
        return std::unexpected(bundle.error());
    const auto scope = std::format("{}/{}", kTrees, key.scopeFingerprint);
    if (::mkdirat(m_root.get(), scope.c_str(), 0700) != 0 && errno != EEXIST)
        return failErrno("mkdirat of a scope in the package cache", errno);
    entry.path = m_directory / kTrees / entry.scopeFolder / entry.name;
    auto written = writeInto(entry, scope, entry.name, bundle->bytes());
    if (!written) {
        entry.bytes = 0;
        (void)removeTree(m_root.get(), std::format("{}/{}.new", scope, entry.name).c_str());
    }
    return written;
}

Result<void> TreeCache::writeInto(Entry& entry, const std::string& scope, const std::string& name,
                                  std::string_view stream)
{
    const auto fresh = std::format("{}/{}.new", scope, name);
    const auto final = std::format("{}/{}", scope, name);
    if (::mkdirat(m_root.get(), fresh.c_str(), 0700) != 0)
        return failErrno("mkdirat in the package cache", errno);
    const UniqueFd directory(::openat(m_root.get(), fresh.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!directory)
        return failErrno("openat in the package cache", errno);
    auto bytes = writeTree(directory.get(), stream);
    if (!bytes)
        return forward(bytes);
    entry.bytes = *bytes;
    if (::renameat(m_root.get(), fresh.c_str(), m_root.get(), final.c_str()) != 0)
        return failErrno("renameat in the package cache", errno);
    return {};
}

void TreeCache::giveBack(const std::shared_ptr<Entry>& entry)
{
    std::unique_lock lock(m_mutex);
    --entry->leases;
    std::list<std::shared_ptr<Entry>> gone = takeEvicted();
    if (entry->doomed && entry->leases == 0) {
        m_counts.bytes -= entry->bytes;
        gone.push_back(entry);
    }
    lock.unlock();
    for (const auto& old : gone)
        removeFromDisk(*old);
}

std::list<std::shared_ptr<TreeLease::Entry>> TreeCache::takeEvicted()
{
    std::list<std::shared_ptr<Entry>> out;
    while (m_counts.bytes > m_limitBytes) {
        auto oldest = m_entries.end();
        for (auto each = m_entries.begin(); each != m_entries.end(); ++each) {
            const auto& entry = *each->second;
            if (entry.stage == Entry::Stage::Ready && entry.leases == 0 &&
                (oldest == m_entries.end() || entry.lastUse < oldest->second->lastUse))
                oldest = each;
        }
        if (oldest == m_entries.end())
            break; // all of it is in use
        m_counts.bytes -= oldest->second->bytes;
        out.push_back(oldest->second);
        m_entries.erase(oldest);
    }
    return out;
}

store::Removed TreeCache::sweep(std::chrono::milliseconds unusedFor, store::Removal removal)
{
    const auto before = std::chrono::steady_clock::now() - unusedFor;
    store::Removed out;
    std::list<std::shared_ptr<Entry>> gone;
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
            m_counts.bytes -= entry.bytes;
            gone.push_back(each->second);
            each = m_entries.erase(each);
        }
    }
    for (const auto& old : gone)
        removeFromDisk(*old);
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
        m_counts.bytes -= entry->bytes;
    lock.unlock();
    if (unused)
        removeFromDisk(*entry);
}

void TreeCache::removeFromDisk(const Entry& entry)
{
    // A tree that cannot be removed is set aside by the next start; it is never handed out again.
    (void)removeTree(m_root.get(), std::format("{}/{}/{}", kTrees, entry.scopeFolder, entry.name).c_str());
}

TreeCache::Counts TreeCache::counts() const
{
    const std::lock_guard lock(m_mutex);
    Counts out = m_counts;
    out.trees = m_entries.size();
    return out;
}

} // namespace assay::runs
