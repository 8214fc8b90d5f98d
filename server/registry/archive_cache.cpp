// SPDX-License-Identifier: Apache-2.0
#include "server/registry/archive_cache.h"

namespace assay::registry {

namespace {

// Many tiny archives cost more than their bytes.
constexpr std::size_t kEntryBytes = 512;

} // namespace

std::shared_ptr<const std::string> ArchiveCache::find(const std::string& key)
{
    const std::scoped_lock lock(m_mutex);
    const auto found = m_index.find(key);
    if (found == m_index.end())
        return nullptr;
    m_entries.splice(m_entries.begin(), m_entries, found->second);
    return m_entries.front().bytes;
}

void ArchiveCache::keep(const std::string& key, std::shared_ptr<const std::string> bytes)
{
    const std::scoped_lock lock(m_mutex);
    if (bytes->size() > m_maxBytes / 8 || m_index.contains(key))
        return;
    m_bytes += bytes->size() + kEntryBytes;
    m_entries.push_front({key, std::move(bytes)});
    m_index.emplace(m_entries.front().key, m_entries.begin());
    evict();
}

void ArchiveCache::evict()
{
    while (m_bytes > m_maxBytes) {
        m_bytes -= m_entries.back().bytes->size() + kEntryBytes;
        m_index.erase(m_entries.back().key);
        m_entries.pop_back();
    }
}

} // namespace assay::registry
