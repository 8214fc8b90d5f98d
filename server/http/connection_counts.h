// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>

namespace assay::http {

/// Counts open connections, in all and per peer, against their limits. Thread-safe.
class ConnectionCounts
{
public:
    enum class Verdict : std::uint8_t { Accepted, TooMany, TooManyOfPeer };

    ConnectionCounts(std::size_t limit, std::size_t limitPerPeer) : m_limit(limit), m_limitPerPeer(limitPerPeer) {}

    /// `peer` is empty for one that has no limit of its own. Each `Accepted` is undone by one `remove`.
    Verdict add(const std::string& peer);
    void remove(const std::string& peer);

private:
    const std::size_t m_limit;
    const std::size_t m_limitPerPeer;
    std::mutex m_mutex;
    std::size_t m_total = 0;
    std::unordered_map<std::string, std::size_t> m_perPeer;
};

} // namespace assay::http
