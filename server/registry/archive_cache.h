// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

namespace assay::registry {

/// Keeps the archives that were asked for last, up to a number of bytes; what is too large for an eighth of it is not
/// kept. Keys hold the scope's fingerprint and the revision's digest. Thread-safe.
class ArchiveCache
{
public:
    explicit ArchiveCache(std::size_t maxBytes) : m_maxBytes(maxBytes) {}

    /// Null when it is not there.
    std::shared_ptr<const std::string> find(const std::string& key);
    void keep(const std::string& key, std::shared_ptr<const std::string> bytes);

private:
    struct Entry
    {
        std::string key;
        std::shared_ptr<const std::string> bytes;
    };
    void evict();

    const std::size_t m_maxBytes;
    std::mutex m_mutex;
    std::list<Entry> m_entries; ///< the last used one first
    std::unordered_map<std::string_view, std::list<Entry>::iterator> m_index;
    std::size_t m_bytes = 0;
};

} // namespace assay::registry
